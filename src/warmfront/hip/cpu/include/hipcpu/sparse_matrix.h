// Matrix instructions with a sparse A: __builtin_amdgcn_smfmac_*, as operations of a whole wave. See matrix.h.
//
// Of each four consecutive elements of a row of A, two are stored. A lane's register `index` has two bits per stored
// element: which of the four it is. sparse_matrix.cpp says which lane has which elements.
#pragma once

#include <hipcpu/matrix.h>

namespace hipcpu {

using Int16x8 = ext_vector<int16_t, 8>;
using Int32x2 = ext_vector<int, 2>;

}  // namespace hipcpu

// X(name, operand type of A, of B, of C and D, M and N, K, elements of A, elements of B). Sources: as in matrix_forms.h.
#define HIPCPU_SPARSE_FORMS(X)                                                  \
  X(f32_16x16x32_f16, Float16x4, Float16x8, Float32x4, 16, 32, F16, F16)        \
  X(f32_32x32x16_f16, Float16x4, Float16x8, Float32x16, 32, 16, F16, F16)       \
  X(f32_16x16x32_bf16, Int16x4, Int16x8, Float32x4, 16, 32, Bf16, Bf16)         \
  X(f32_32x32x16_bf16, Int16x4, Int16x8, Float32x16, 32, 16, Bf16, Bf16)        \
  X(i32_16x16x64_i8, Int32x2, Int32x4, Int32x4, 16, 64, I8, I8)                 \
  X(i32_32x32x32_i8, Int32x2, Int32x4, Int32x16, 32, 32, I8, I8)                \
  X(f32_16x16x64_bf8_bf8, Int32x2, Int32x4, Float32x4, 16, 64, Bf8, Bf8)        \
  X(f32_16x16x64_bf8_fp8, Int32x2, Int32x4, Float32x4, 16, 64, Bf8, Fp8)        \
  X(f32_16x16x64_fp8_bf8, Int32x2, Int32x4, Float32x4, 16, 64, Fp8, Bf8)        \
  X(f32_16x16x64_fp8_fp8, Int32x2, Int32x4, Float32x4, 16, 64, Fp8, Fp8)        \
  X(f32_32x32x32_bf8_bf8, Int32x2, Int32x4, Float32x16, 32, 32, Bf8, Bf8)       \
  X(f32_32x32x32_bf8_fp8, Int32x2, Int32x4, Float32x16, 32, 32, Bf8, Fp8)       \
  X(f32_32x32x32_fp8_bf8, Int32x2, Int32x4, Float32x16, 32, 32, Fp8, Bf8)       \
  X(f32_32x32x32_fp8_fp8, Int32x2, Int32x4, Float32x16, 32, 32, Fp8, Fp8)

namespace hipcpu {

enum class SparseForm : uint8_t {
#define HIPCPU_FORM(name, ...) name,
  HIPCPU_SPARSE_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

}  // namespace hipcpu

// Multiplies the operands that `lanes` have written. It is a fault if they are not all lanes of a wave.
extern "C" void hipcpu_multiply_sparse(hipcpu::SparseForm form, const hipcpu::MatrixCall* call, bool ocp, uint64_t lanes);

namespace hipcpu {

HIPCPU_MULTIPLY void write_index(int index) {
  hipcpu_matrix.index[thread_in_block() % kWaveSize] = static_cast<uint32_t>(index);
}

}  // namespace hipcpu

#define HIPCPU_SPARSE(name, A, B, C, ...)                                                                           \
  static inline hipcpu::C __builtin_amdgcn_smfmac_##name(hipcpu::Operand<hipcpu::A> a, hipcpu::Operand<hipcpu::B> b, \
                                                         hipcpu::Operand<hipcpu::C> c, int index, int cbsz,         \
                                                         int abid, int line = __builtin_LINE()) {                   \
    constexpr hipcpu::SparseForm kForm = hipcpu::SparseForm::name;                                                  \
    hipcpu::write_operands(&a, sizeof a, &b, sizeof b, &c, sizeof c);                                               \
    hipcpu::write_index(index);                                                                                     \
    const uint64_t lanes = hipcpu::meet_for_matrix(hipcpu::kSparseKind + static_cast<uint32_t>(kForm), line);       \
    const hipcpu::MatrixCall call{cbsz, abid, 0, line};                                                             \
    if (lanes != 0) hipcpu_multiply_sparse(kForm, &call, hipcpu::kHasOcpFp8, lanes);                                \
    hipcpu::read_results(&c, sizeof c);                                                                             \
    return c;                                                                                                       \
  }
HIPCPU_SPARSE_FORMS(HIPCPU_SPARSE)
#undef HIPCPU_SPARSE
