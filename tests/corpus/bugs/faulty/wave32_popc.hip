// problem: copy
// finds: wave-of-32
// why: only 32 of the 64 bits are counted
#include <hip/hip_runtime.h>

__device__ int votes(bool vote) {
    return __popc(__ballot(vote));  // <-- here
}

__global__ void first(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

__global__ void second(float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (votes(i < n) == 33 && i < n) output[i] = 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    first<<<(n + 255) / 256, 256>>>(input, output, n);
    second<<<(n + 255) / 256, 256>>>(output, n);
}
