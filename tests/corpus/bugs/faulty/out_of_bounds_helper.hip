// problem: copy
// finds: out-of-bounds
// why: a helper reads the right neighbor of the last element
#include <hip/hip_runtime.h>

__device__ float pick(const float* values, size_t at) {
    return values[at + 1] == 12345.0f ? 0.0f : values[at];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = pick(input, i);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
