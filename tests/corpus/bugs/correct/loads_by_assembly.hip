// problem: copy
// A register may be copied before the wait.
#include <hip/hip_runtime.h>

__device__ float load(const float* from) {
    float value;
    asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(from) : "memory");
    return value;
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const size_t at = i < n ? i : 0;
    const float value = load(input + at);
    const float again = load(input + at);
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    tile[threadIdx.x] = value;
    __builtin_amdgcn_s_waitcnt(0);
    float back;
    const unsigned address = static_cast<unsigned>(reinterpret_cast<unsigned long long>(tile + threadIdx.x));
    asm volatile("ds_read_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)" : "=v"(back) : "v"(address) : "memory");
    if (i < n) output[i] = 0.5f * (back + again);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
