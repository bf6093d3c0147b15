// The same tiles with the operands exchanged: a lane has four columns of one row, and stores 16 bytes.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(64) void by_row(const _Float16* a, const _Float16* b, float* c, int n, int k) {
    const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 64;
    Float4 sums[4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        const Half4 left = *(const Half4*)(a + (row + lane % 16) * k + k0 + lane / 16 * 4);
        for (int t = 0; t < 4; ++t) {
            const Half4 right = *(const Half4*)(b + (column + t * 16 + lane % 16) * k + k0 + lane / 16 * 4);
            sums[t] = __builtin_amdgcn_mfma_f32_16x16x16f16(right, left, sums[t], 0, 0, 0);
        }
    }
    for (int t = 0; t < 4; ++t) {
        *(Float4*)(c + (row + lane % 16) * n + column + t * 16 + lane / 16 * 4) = sums[t];
    }
}

__global__ __launch_bounds__(256) void four_or_each(const float* a, float* c, int n) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    const float4 values = *(const float4*)(a + first);
    if (first + 3 < n) {
        *(float4*)(c + first) = make_float4(values.x * 2.0f, values.y * 2.0f, values.z * 2.0f, values.w * 2.0f);
    } else {
        if (first + 0 < n) c[first + 0] = values.x * 2.0f;
        if (first + 1 < n) c[first + 1] = values.y * 2.0f;
        if (first + 2 < n) c[first + 2] = values.z * 2.0f;
    }
}

__global__ __launch_bounds__(256) void four_or_the_rest(const float* a, float* c, int n) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (first + 3 < n) {
        const float4 values = *(const float4*)(a + first);
        *(float4*)(c + first) = make_float4(values.x * 2.0f, values.y * 2.0f, values.z * 2.0f, values.w * 2.0f);
    } else {
        for (int i = first; i < n; ++i) c[i] = a[i] * 2.0f;
    }
}
