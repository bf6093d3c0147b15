// problem: copy
// why: a block of 32 threads can store its ballot in 32 bits
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 32 + threadIdx.x;
    const unsigned mask = __ballot(i < n);
    if (mask >> threadIdx.x & 1) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 31) / 32, 32>>>(input, output, n);
}
