// problem: copy
// finds: matrix-inactive-lane
// why: some lanes have returned before the helper multiplies
#include <hip/hip_runtime.h>

typedef double doubles __attribute__((ext_vector_type(4)));

template <int STEPS>
__device__ doubles multiply(doubles sums) {
    for (int step = 0; step < STEPS; ++step)
        sums = __builtin_amdgcn_mfma_f64_16x16x4f64(0.0, 0.0, sums, 0, 0, 0);  // <-- here
    return sums;
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const doubles sums = multiply<2>(doubles{input[i], 0.0, 0.0, 0.0});
    output[i] = static_cast<float>(sums[0]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
