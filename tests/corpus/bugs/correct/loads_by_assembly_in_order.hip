// problem: copy
// Loads end in order: a wait for all but the last one is enough for the first two.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float first, second, third;
    asm volatile("global_load_dword %0, %1, off" : "=v"(first) : "v"(input + i) : "memory");
    asm volatile("global_load_dword %0, %1, off" : "=v"(second) : "v"(input + i) : "memory");
    asm volatile("global_load_dword %0, %1, off" : "=v"(third) : "v"(input + i) : "memory");
    asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
    const float sum = first + second;
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    output[i] = sum - third;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
