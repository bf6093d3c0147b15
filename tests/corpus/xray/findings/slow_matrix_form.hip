// Four products of 16 x 16 tiles per instruction, at half of the rate of one with a longer k.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

__global__ __launch_bounds__(256) void four_blocks(const Half4* a, const Half4* b, Float16* c, int depth) {
    Float16 sums[2] = {};
    for (int k = 0; k < depth; ++k) {
        const Half4 left = a[k * 256 + threadIdx.x];
        sums[0] = __builtin_amdgcn_mfma_f32_16x16x4f16(left, b[k * 512 + threadIdx.x], sums[0], 0, 0, 0);  // finds slow-matrix-form
        sums[1] = __builtin_amdgcn_mfma_f32_16x16x4f16(left, b[k * 512 + 256 + threadIdx.x], sums[1], 0, 0, 0);
    }
    c[threadIdx.x] = sums[0];
    c[256 + threadIdx.x] = sums[1];
}
