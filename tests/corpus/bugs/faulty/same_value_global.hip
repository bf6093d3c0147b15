// problem: copy
// finds: same-value-race
// why: all blocks clear the same word
#include <hip/hip_runtime.h>

__device__ void clear(float* word) {
    word[0] = 0.0f;  // <-- here
}

__global__ void run(const float* input, float* output, float* word, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
    clear(word);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* word;
    hipMalloc(&word, sizeof(float));
    hipMemset(word, 0, sizeof(float));
    run<<<(n + 255) / 256, 256>>>(input, output, word, n);
    hipFree(word);
}
