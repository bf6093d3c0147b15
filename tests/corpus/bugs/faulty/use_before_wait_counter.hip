// problem: copy
// finds: use-before-wait
// why: a read of LDS is counted by lgkmcnt, not by vmcnt
#include <hip/hip_runtime.h>

template <class T>
__device__ void read_shared(T& to, const T* from) {
    const unsigned address = static_cast<unsigned>(reinterpret_cast<unsigned long long>(from));
    asm volatile("ds_read_b32 %0, %1" : "=v"(to) : "v"(address) : "memory");  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    float value;
    read_shared(value, tile + threadIdx.x);
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    const float result = value + 0.0f;  // <-- here
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    if (i < n) output[i] = result;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
