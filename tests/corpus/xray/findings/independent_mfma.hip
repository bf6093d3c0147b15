// Matrix instructions that alternate between tiles: while one is computed, the next can begin.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

__global__ __launch_bounds__(64) void four_chains(const Half4* a, const Half4* b, Float4* c, int depth) {
    Float4 sums[4] = {};
    for (int k = 0; k < depth; k += 4) {
        for (int i = 0; i < 4; ++i) {
            const Half4 left = a[(k + i) * 64 + threadIdx.x];
            for (int tile = 0; tile < 4; ++tile) {
                const Half4 right = b[((k + i) * 4 + tile) * 64 + threadIdx.x];
                sums[tile] = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sums[tile], 0, 0, 0);
            }
        }
    }
    for (int tile = 0; tile < 4; ++tile) {
        c[tile * 64 + threadIdx.x] = sums[tile];
    }
}

// One tile, and enough other work between its instructions.
__global__ __launch_bounds__(64) void with_work(const Half4* a, const float* scale, Float16* c, int depth) {
    Float16 sums = {};
    for (int k = 0; k < depth; ++k) {
        const float by = scale[k * 64 + threadIdx.x];
        Half4 left = a[k * 64 + threadIdx.x];
        for (int i = 0; i < 4; ++i) {
            left[i] = (_Float16)__expf(by * (float)left[i]);
        }
        sums = __builtin_amdgcn_mfma_f32_32x32x8f16(left, left, sums, 0, 0, 0);
    }
    c[threadIdx.x] = sums;
}
