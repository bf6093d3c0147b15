// The dense matrix instructions of gfx942 (MI300X) and gfx950 (MI355X), as tables of the compiler's builtins.
//
// Each is one operation of a wave: D = A * B + C for `blocks` independent products of an M x K by a K x N matrix. A lane
// passes its items of A and B, and its items of C, and gets its items of D. matrix.cpp says which items these are.
// Sources of the shapes: AMD's CDNA3 and CDNA4 ISA documents and AMD's matrix instruction calculator. The types of the operands are
// those that clang declares; a test compiles every form with clang for its architecture.
#pragma once

#include <cstdint>

#include <hipcpu/ext_vector.h>

namespace hipcpu {

// The elements of A and B. "fp8" and "bf8" are the FNUZ formats on gfx942, and those of OCP on gfx950.
enum class MatrixType : uint8_t { kF32, kXf32, kF64, kF16, kBf16, kI8, kFp8, kBf8, kOcpFp8, kOcpBf8 };

using Float32 = float;
using Float64 = double;
using Int32 = int;
using Int64 = long;
using Float16x4 = ext_vector<_Float16, 4>;
using Float16x8 = ext_vector<_Float16, 8>;
using Int16x4 = ext_vector<int16_t, 4>;
using Float32x2 = ext_vector<float, 2>;
using Float32x4 = ext_vector<float, 4>;
using Float32x16 = ext_vector<float, 16>;
using Float32x32 = ext_vector<float, 32>;
using Float64x4 = ext_vector<double, 4>;
using Int32x4 = ext_vector<int, 4>;
using Int32x16 = ext_vector<int, 16>;
using Int32x32 = ext_vector<int, 32>;

}  // namespace hipcpu

// X(name, operand type of A and B, operand type of C and D, M, N, K, blocks, elements of A, elements of B)
#define HIPCPU_DENSE_FORMS(X)                                              \
  X(f32_32x32x1f32, Float32, Float32x32, 32, 32, 1, 2, F32, F32)           \
  X(f32_16x16x1f32, Float32, Float32x16, 16, 16, 1, 4, F32, F32)           \
  X(f32_4x4x1f32, Float32, Float32x4, 4, 4, 1, 16, F32, F32)               \
  X(f32_32x32x2f32, Float32, Float32x16, 32, 32, 2, 1, F32, F32)           \
  X(f32_16x16x4f32, Float32, Float32x4, 16, 16, 4, 1, F32, F32)            \
  X(f32_32x32x4f16, Float16x4, Float32x32, 32, 32, 4, 2, F16, F16)         \
  X(f32_16x16x4f16, Float16x4, Float32x16, 16, 16, 4, 4, F16, F16)         \
  X(f32_4x4x4f16, Float16x4, Float32x4, 4, 4, 4, 16, F16, F16)             \
  X(f32_32x32x8f16, Float16x4, Float32x16, 32, 32, 8, 1, F16, F16)         \
  X(f32_16x16x16f16, Float16x4, Float32x4, 16, 16, 16, 1, F16, F16)        \
  X(f32_32x32x4bf16_1k, Int16x4, Float32x32, 32, 32, 4, 2, Bf16, Bf16)     \
  X(f32_16x16x4bf16_1k, Int16x4, Float32x16, 16, 16, 4, 4, Bf16, Bf16)     \
  X(f32_4x4x4bf16_1k, Int16x4, Float32x4, 4, 4, 4, 16, Bf16, Bf16)         \
  X(f32_32x32x8bf16_1k, Int16x4, Float32x16, 32, 32, 8, 1, Bf16, Bf16)     \
  X(f32_16x16x16bf16_1k, Int16x4, Float32x4, 16, 16, 16, 1, Bf16, Bf16)    \
  X(i32_32x32x4i8, Int32, Int32x32, 32, 32, 4, 2, I8, I8)                  \
  X(i32_16x16x4i8, Int32, Int32x16, 16, 16, 4, 4, I8, I8)                  \
  X(i32_4x4x4i8, Int32, Int32x4, 4, 4, 4, 16, I8, I8)                      \
  X(i32_32x32x16_i8, Int64, Int32x16, 32, 32, 16, 1, I8, I8)               \
  X(i32_16x16x32_i8, Int64, Int32x4, 16, 16, 32, 1, I8, I8)                \
  X(f64_16x16x4f64, Float64, Float64x4, 16, 16, 4, 1, F64, F64)            \
  X(f64_4x4x4f64, Float64, Float64, 4, 4, 4, 4, F64, F64)                  \
  X(f32_16x16x32_bf8_bf8, Int64, Float32x4, 16, 16, 32, 1, Bf8, Bf8)       \
  X(f32_16x16x32_bf8_fp8, Int64, Float32x4, 16, 16, 32, 1, Bf8, Fp8)       \
  X(f32_16x16x32_fp8_bf8, Int64, Float32x4, 16, 16, 32, 1, Fp8, Bf8)       \
  X(f32_16x16x32_fp8_fp8, Int64, Float32x4, 16, 16, 32, 1, Fp8, Fp8)       \
  X(f32_32x32x16_bf8_bf8, Int64, Float32x16, 32, 32, 16, 1, Bf8, Bf8)      \
  X(f32_32x32x16_bf8_fp8, Int64, Float32x16, 32, 32, 16, 1, Bf8, Fp8)      \
  X(f32_32x32x16_fp8_bf8, Int64, Float32x16, 32, 32, 16, 1, Fp8, Bf8)      \
  X(f32_32x32x16_fp8_fp8, Int64, Float32x16, 32, 32, 16, 1, Fp8, Fp8)

// Forms that gfx950 does not have.
#define HIPCPU_GFX942_FORMS(X)                                             \
  X(f32_16x16x8_xf32, Float32x2, Float32x4, 16, 16, 8, 1, Xf32, Xf32)      \
  X(f32_32x32x4_xf32, Float32x2, Float32x16, 32, 32, 4, 1, Xf32, Xf32)

// Forms that only gfx950 has.
#define HIPCPU_GFX950_FORMS(X)                                             \
  X(f32_16x16x32_f16, Float16x8, Float32x4, 16, 16, 32, 1, F16, F16)       \
  X(f32_32x32x16_f16, Float16x8, Float32x16, 32, 32, 16, 1, F16, F16)      \
  X(f32_16x16x32_bf16, Bfloat16x8, Float32x4, 16, 16, 32, 1, Bf16, Bf16)   \
  X(f32_32x32x16_bf16, Bfloat16x8, Float32x16, 32, 32, 16, 1, Bf16, Bf16)  \
  X(i32_16x16x64_i8, Int32x4, Int32x4, 16, 16, 64, 1, I8, I8)              \
  X(i32_32x32x32_i8, Int32x4, Int32x16, 32, 32, 32, 1, I8, I8)

namespace hipcpu {

enum class MatrixForm : uint8_t {
#define HIPCPU_FORM(name, ...) name,
  HIPCPU_DENSE_FORMS(HIPCPU_FORM) HIPCPU_GFX942_FORMS(HIPCPU_FORM) HIPCPU_GFX950_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

}  // namespace hipcpu
