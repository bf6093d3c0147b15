// problem: copy
// finds: matrix-inactive-lane
// why: lanes leave the loop after different numbers of steps
#include <hip/hip_runtime.h>

typedef float Sums __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int steps = threadIdx.x % 64 < 48 ? 2 : 1;
    Sums sums = {0, 0, 0, 0};
    for (int step = 0; step < steps; ++step)
        sums = __builtin_amdgcn_mfma_f32_16x16x4f32(1.0f, 1.0f, sums, 0, 0, 0);  // <-- here
    if (i < n) output[i] = input[i] + 0.0f * sums[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
