// A wave with 16 tiles of sums and two more that the vector ALU adds up: more than 256 registers, so values are
// copied to accumulation registers and back in every round.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

__global__ __launch_bounds__(256) void totals(const Half4* a, const Half4* b, const float* scale, Float16* c, int depth) {
    Float16 sums[4][4] = {}, totals[2] = {};
    for (int k = 0; k < depth; ++k) {
        Half4 left[4], right[4];
        for (int i = 0; i < 4; ++i) {
            left[i] = a[(k * 4 + i) * 256 + threadIdx.x];
            right[i] = b[(k * 4 + i) * 256 + threadIdx.x];
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(left[i], right[j], sums[i][j], 0, 0, 0);  // finds agpr-moves
            }
        }
        totals[0] += sums[0][0] * scale[k];
        totals[1] += sums[3][3] * scale[k];
    }
    for (int i = 0; i < 16; ++i) {
        c[i * 256 + threadIdx.x] = sums[i / 4][i % 4] + totals[i % 2];
    }
}
