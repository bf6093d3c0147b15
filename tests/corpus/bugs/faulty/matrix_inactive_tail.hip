// problem: copy
// finds: matrix-inactive-lane
// why: lanes beyond n do not execute the matrix instruction
#include <hip/hip_runtime.h>

typedef float four __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        four sums = {input[i], 0.0f, 0.0f, 0.0f};
        sums = __builtin_amdgcn_mfma_f32_16x16x4f32(0.0f, 0.0f, sums, 0, 0, 0);  // <-- here
        output[i] = sums[0];
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
