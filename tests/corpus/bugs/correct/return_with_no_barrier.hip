// problem: copy
// why: threads beyond n return, and no barrier follows
#include <hip/hip_runtime.h>

__device__ float same(const float* values, size_t at) {
    float local[4] = {values[at], 0.0f, 0.0f, 0.0f};
    for (int k = 1; k < 4; ++k) local[k] = local[k - 1];
    return local[3];
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    output[i] = same(input, i);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
