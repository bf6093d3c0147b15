// problem: copy
// finds: use-before-wait
// why: the wait is for LDS, but the vector is loaded from global memory
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float2 pair;
    const float* from = input + (i + 1 < n ? i : i - 1);
    asm volatile("global_load_dwordx2 %0, %1, off" : "=v"(pair) : "v"(from) : "memory");  // <-- here
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    output[i] = i + 1 < n ? pair.x : pair.y;  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
