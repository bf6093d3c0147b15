// Tiles of sums stored by one column per lane: four rows, so four stores of 4 bytes each.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(64) void by_column(const _Float16* a, const _Float16* b, float* c, int n, int k) {
    const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 64;
    Float4 sums[4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        const Half4 left = *(const Half4*)(a + (row + lane % 16) * k + k0 + lane / 16 * 4);
        for (int t = 0; t < 4; ++t) {
            const Half4 right = *(const Half4*)(b + (column + t * 16 + lane % 16) * k + k0 + lane / 16 * 4);
            sums[t] = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sums[t], 0, 0, 0);
        }
    }
    for (int t = 0; t < 4; ++t) {
        for (int i = 0; i < 4; ++i) {
            c[(row + lane / 16 * 4 + i) * n + column + t * 16 + lane % 16] = sums[t][i];  // finds narrow-stores
        }
    }
}

__global__ __launch_bounds__(256) void four_each(const float* a, float* c, int n) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    const float4 values = *(const float4*)(a + first);
    if (first + 0 < n) c[first + 0] = values.x * 2.0f;  // finds narrow-stores
    if (first + 1 < n) c[first + 1] = values.y * 2.0f;
    if (first + 2 < n) c[first + 2] = values.z * 2.0f;
    if (first + 3 < n) c[first + 3] = values.w * 2.0f;
}
