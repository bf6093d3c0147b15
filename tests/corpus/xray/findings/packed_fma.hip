// Multiply-adds in pairs, and some that cannot be paired: one sum after the other.
#include <hip/hip_runtime.h>

using Float2 = float __attribute__((ext_vector_type(2)));

__global__ __launch_bounds__(256) void clamped_pairs(const Float2* x, Float2* y, int rounds) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    Float2 values[4];
    for (int i = 0; i < 4; ++i) values[i] = x[first + i];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 4; ++i) {
            const Float2 next = __builtin_elementwise_fma(values[i], values[i], Float2{-1.0f, -1.0f});
            values[i].x = __builtin_amdgcn_fmed3f(next.x, -2.0f, 2.0f);
            values[i].y = __builtin_amdgcn_fmed3f(next.y, -2.0f, 2.0f);
        }
    }
    for (int i = 0; i < 4; ++i) y[first + i] = values[i];
}

__global__ __launch_bounds__(256) void one_polynomial(const float* x, float* y, const float* terms, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float at = x[i];
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum = fmaf(sum, at, terms[k]);
    y[i] = sum;
}
