// Sums that the vector ALU rescales in every round, and that fit into the vector registers.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

__global__ __launch_bounds__(512) void rescaled(const Half4* a, const Half4* b, const float* scale, Float16* c, int depth) {
    Float16 sums[2][3] = {};
    for (int k = 0; k < depth; ++k) {
        Half4 left[2], right[3];
        for (int i = 0; i < 3; ++i) {
            if (i < 2) left[i] = a[(k * 2 + i) * 512 + threadIdx.x];
            right[i] = b[(k * 3 + i) * 512 + threadIdx.x];
        }
        const float by = scale[k * 512 + threadIdx.x];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(left[i], right[j], sums[i][j] * by, 0, 0, 0);
            }
        }
    }
    for (int i = 0; i < 6; ++i) {
        c[i * 512 + threadIdx.x] = sums[i / 3][i % 3];
    }
}
