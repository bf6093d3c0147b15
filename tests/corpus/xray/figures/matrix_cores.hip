// Matrix instructions, which exist on the GPU only and keep their sums in many registers.
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

__global__ __launch_bounds__(64) void one_tile(const Half4* a, const Half4* b, Float4* c) {
    Float4 sums = {};
    for (int k = 0; k < 16; ++k) {
        sums = __builtin_amdgcn_mfma_f32_16x16x16f16(a[k * 64 + threadIdx.x], b[k * 64 + threadIdx.x], sums, 0, 0, 0);
    }
    c[threadIdx.x] = sums;
}

__global__ __launch_bounds__(256) void many_tiles(const Half4* a, const Half4* b, Float16* c, int depth) {
    Float16 sums[4][4] = {};
    for (int k = 0; k < depth; ++k) {
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[(k * 4 + i) * 256 + threadIdx.x],
                                                                  b[(k * 4 + j) * 256 + threadIdx.x], sums[i][j], 0, 0, 0);
            }
        }
    }
    for (int i = 0; i < 16; ++i) {
        c[i * 256 + threadIdx.x] = sums[i / 4][i % 4];
    }
}

__global__ void in_double(const double* a, const double* b, double* c) {
    using Double4 = double __attribute__((ext_vector_type(4)));
    Double4 sums = {};
    for (int k = 0; k < 8; ++k) {
        sums = __builtin_amdgcn_mfma_f64_16x16x4f64(a[k * 64 + threadIdx.x], b[k * 64 + threadIdx.x], sums, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i) {
        c[i * 64 + threadIdx.x] = sums[i];
    }
}
