// problem: copy
// why: a compare-and-swap lock protects a plain counter
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, int* lock, int* count, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
    if (threadIdx.x % 64 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        count[0] += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    int* words;
    hipMalloc(&words, 2 * sizeof(int));
    hipMemset(words, 0, 2 * sizeof(int));
    run<<<(n + 255) / 256, 256>>>(input, output, words, words + 1, n);
    hipFree(words);
}
