// Matrix instructions that all add to the same tile: each waits for the one before.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(64) void one_chain(const Half4* a, const Half4* b, Float4* c, int depth) {
    Float4 sums = {};
    for (int k = 0; k < depth; k += 8) {
        Half4 left[8], right[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            left[i] = a[(k + i) * 64 + threadIdx.x];
            right[i] = b[(k + i) * 64 + threadIdx.x];
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            sums = __builtin_amdgcn_mfma_f32_16x16x16f16(left[i], right[i], sums, 0, 0, 0);  // finds dependent-mfma
        }
    }
    c[threadIdx.x] = sums;
}
