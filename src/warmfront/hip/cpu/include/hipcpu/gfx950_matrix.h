// Matrix instructions that only gfx950 (MI355X) has: with twice the depth, and with fp8, fp6 or fp4 elements and scales.
//
// __builtin_amdgcn_mfma_scale_*_f8f6f4: `format_a` and `format_b` are the formats of A and B (MatrixFormat). A row of A and a
// column of B has one scale, a power of two (e8m0), per 32 elements: byte `select` of a lane's register. If both
// registers are the constant 0, clang selects the instruction without scales, and so does this header.
#pragma once

#include <hipcpu/builtins/half_types.h>
#include <hipcpu/matrix.h>

namespace hipcpu {

using Bfloat16x8 = ext_vector<__bf16, 8>;

// The codes of the formats, as the instruction has them.
enum class MatrixFormat : int { kE4m3, kE5m2, kE2m3, kE3m2, kE2m1 };

// The 32 bytes of a lane's elements, which may be passed as a vector of any type.
struct ScaledOperand {
  unsigned char bytes[32];
  template <class T, int N>
    requires(sizeof(ext_vector<T, N>) == 32)
  ScaledOperand(const ext_vector<T, N>& vector) {
    std::memcpy(bytes, &vector, sizeof bytes);
  }
};

struct ScaledCall {
  int format_a, format_b, select_a, select_b;
  bool has_scales;
  int line;
};

HIPCPU_MULTIPLY void write_scales(int scale_a, int scale_b) {
  const uint32_t lane = thread_in_block() % kWaveSize;
  hipcpu_matrix.scale_a[lane] = static_cast<uint32_t>(scale_a);
  hipcpu_matrix.scale_b[lane] = static_cast<uint32_t>(scale_b);
}

}  // namespace hipcpu

// Multiplies the operands that `lanes` have written, for a result of `rows` x `rows`.
extern "C" void hipcpu_multiply_scaled(int rows, const hipcpu::ScaledCall* call, uint64_t lanes);

HIPCPU_GFX950_FORMS(HIPCPU_DENSE)

#define HIPCPU_SCALED(rows, C)                                                                                      \
  static inline hipcpu::C multiply_scaled_##rows(hipcpu::ScaledOperand a, hipcpu::ScaledOperand b, hipcpu::C c,     \
                                                 int format_a, int format_b, int select_a, int scale_a,             \
                                                 int select_b, int scale_b, bool has_scales, int line) {            \
    hipcpu::write_operands(&a, sizeof a, &b, sizeof b, &c, sizeof c);                                               \
    hipcpu::write_scales(scale_a, scale_b);                                                                         \
    const uint64_t lanes = hipcpu::meet_for_matrix(hipcpu::kScaledKind + rows / 32, line);                          \
    const hipcpu::ScaledCall call{format_a, format_b, select_a, select_b, has_scales, line};                        \
    if (lanes != 0) hipcpu_multiply_scaled(rows, &call, lanes);                                                     \
    hipcpu::read_results(&c, sizeof c);                                                                             \
    return c;                                                                                                       \
  }
namespace hipcpu {
HIPCPU_SCALED(16, Float32x4)
HIPCPU_SCALED(32, Float32x16)
}  // namespace hipcpu
#undef HIPCPU_SCALED

// Macros, because only in a macro is an argument known to be a constant.
#define HIPCPU_HAS_SCALES(a, b) \
  !(__builtin_constant_p(a) && __builtin_constant_p(b) && static_cast<int>(a) == 0 && static_cast<int>(b) == 0)
#define __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, format_a, format_b, select_a, scale_a, select_b, scale_b) \
  ::hipcpu::multiply_scaled_16(a, b, c, format_a, format_b, select_a, scale_a, select_b, scale_b,                          \
                               HIPCPU_HAS_SCALES(scale_a, scale_b), __LINE__)
#define __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a, b, c, format_a, format_b, select_a, scale_a, select_b, scale_b) \
  ::hipcpu::multiply_scaled_32(a, b, c, format_a, format_b, select_a, scale_a, select_b, scale_b,                         \
                               HIPCPU_HAS_SCALES(scale_a, scale_b), __LINE__)
