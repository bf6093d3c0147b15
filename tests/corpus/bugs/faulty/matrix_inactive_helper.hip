// problem: copy
// finds: matrix-inactive-lane
// why: a helper is called for the elements that exist only, and they end within a wave
#include <hip/hip_runtime.h>

typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef float Sums __attribute__((ext_vector_type(16)));

__device__ Sums square(float value) {
    const Half4 four = {(_Float16)value, 0, 0, 0};
    const Sums zero = {};
    return __builtin_amdgcn_mfma_f32_32x32x8f16(four, four, zero, 0, 0, 0);  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] + 0.0f * square(0.0f)[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
