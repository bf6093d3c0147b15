// problem: copy
// Whole waves take part or do not, and loops have the same number of steps for all lanes of a wave.
#include <hip/hip_runtime.h>

typedef float Sums __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int wave = threadIdx.x / 64;
    Sums sums = {0, 0, 0, 0};
    if (wave % 2 == 0)
        for (int step = 0; step <= wave; ++step) sums = __builtin_amdgcn_mfma_f32_16x16x4f32(1.0f, 2.0f, sums, 0, 0, 0);
    const float expected = wave % 2 == 0 ? 8.0f * (wave + 1) : 0.0f;
    if (i < n) output[i] = sums[3] == expected ? input[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
