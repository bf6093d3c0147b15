// problem: copy
// finds: use-before-wait
// why: the compiler does not know that the assembly loads, and does not wait
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float value;
    asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(input + i) : "memory");  // <-- here
    output[i] = value;  // <-- here
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
