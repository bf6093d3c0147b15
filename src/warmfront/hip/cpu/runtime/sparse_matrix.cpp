// The arithmetic of matrix instructions with a sparse A (4:2): one call multiplies the operands of a whole wave.
//
// Which lane has which item, for M x M x K (AMD's matrix instruction calculator prints the same):
//   A      a lane has S = M * K / 128 stored items, of the row lane % M and of 2 * S consecutive columns, which begin at
//          k = 2 * S * (lane / M). Items 2g and 2g + 1 are of the columns k + 4g to k + 4g + 3.
//   index  bits 2t and 2t + 1 say which of these four item t is. A register has several sets of indices: four sets of
//          8 bits for 16-bit items, two sets of 16 bits for 8-bit items. ABID selects the set if CBSZ is 0, otherwise it
//          is the first.
//   B      2 * S items per lane, of the column lane % M and of the same k as in A.
//   D      as with dense forms: see matrix.cpp.
//
// B's elements at positions that are not stored in A are not used, not even to multiply zero by infinity. If both indices of
// a group are equal, both products count; AMD does not document that case. The order of the sum is that of the items.
#ifndef __clang__
#pragma GCC optimize("O3")  // as in matrix.cpp
#endif

#include <hipcpu/sparse_matrix.h>

#include <cstddef>

#include "matrix_elements.h"

namespace hipcpu {

namespace {

template <int m, int k, MatrixType a_type, MatrixType b_type>
struct SparseShape {
  static constexpr int M = m, K = k;
  using A = Element<a_type>;
  using B = Element<b_type>;
  using Sum = typename A::Sum;
  using Rows = ResultRows<M>;
  static constexpr int kStored = M * K / 128;   // items of A per lane
  static constexpr int kSpan = 2 * kStored;     // items of B per lane
  static constexpr int kSets = 16 / kStored;    // of indices, in a register
};

template <class S>
void multiply_wave(const MatrixCall& call) {
  MatrixOperands& operands = hipcpu_matrix;
  typename S::A::Stored a[64][S::kStored];
  typename S::B::Stored b[64][S::kSpan];
  __builtin_memcpy(a, operands.a, sizeof a);
  __builtin_memcpy(b, operands.b, sizeof b);
  alignas(64) typename S::Sum columns[S::K][S::M], sums[S::M][S::M];
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < S::kSpan; ++i)
      columns[S::kSpan * (lane / S::M) + i][lane % S::M] = S::B::decode(b[lane][i]);
  auto* c = reinterpret_cast<typename S::Sum(*)[S::Rows::kCount]>(operands.c);
  for (int lane = 0; lane < 64; ++lane)
    for (int r = 0; r < S::Rows::kCount; ++r) sums[S::Rows::row(lane / S::M, r)][lane % S::M] = c[lane][r];
  const int shift = call.cbsz == 0 ? call.abid * (32 / S::kSets) : 0;
  for (int lane = 0; lane < 64; ++lane) {
    auto& row = sums[lane % S::M];
    const uint32_t index = operands.index[lane] >> shift;
    for (int item = 0; item < S::kStored; ++item) {
      const auto value = S::A::decode(a[lane][item]);
      const auto& factors = columns[S::kSpan * (lane / S::M) + 4 * (item / 2) + (index >> 2 * item & 3)];
      for (int j = 0; j < S::M; ++j) row[j] += value * factors[j];
    }
  }
  for (int lane = 0; lane < 64; ++lane)
    for (int r = 0; r < S::Rows::kCount; ++r) c[lane][r] = sums[S::Rows::row(lane / S::M, r)][lane % S::M];
}

// A form as the table has it.
struct Entry {
  const char* name;
  int sets;
  void (*multiply)(const MatrixCall&);
};

template <class S>
constexpr Entry entry(const char* name) {
  return {name, S::kSets, multiply_wave<S>};
}

constexpr Entry kForms[] = {
#define HIPCPU_FORM(name, A, B, C, rows, depth, a, b) \
  entry<SparseShape<rows, depth, MatrixType::k##a, MatrixType::k##b>>("__builtin_amdgcn_smfmac_" #name),
    HIPCPU_SPARSE_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

constexpr Entry kOcpForms[] = {
#define HIPCPU_FORM(name, A, B, C, rows, depth, a, b)                                     \
  entry<SparseShape<rows, depth, ocp_type(MatrixType::k##a), ocp_type(MatrixType::k##b)>>( \
      "__builtin_amdgcn_smfmac_" #name),
    HIPCPU_SPARSE_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

void check(const Entry& form, const MatrixCall& call, uint64_t lanes) {
  check_lanes(form.name, call.line, lanes);
  Text why;
  if (call.cbsz < 0 || call.cbsz > 3) {
    why << "cbsz is " << call.cbsz << ", but it is between 0 and 3";
    refuse_matrix(form.name, call.line, why);
  }
  if (call.abid < 0 || call.abid >= form.sets) {
    why << "abid is " << call.abid << ", but it selects one of the " << form.sets << " sets of indices";
    refuse_matrix(form.name, call.line, why);
  }
}

}  // namespace

}  // namespace hipcpu

extern "C" void hipcpu_multiply_sparse(hipcpu::SparseForm form, const hipcpu::MatrixCall* call, bool ocp, uint64_t lanes) {
  const hipcpu::Entry& entry = (ocp ? hipcpu::kOcpForms : hipcpu::kForms)[static_cast<size_t>(form)];
  hipcpu::check(entry, *call, lanes);
  entry.multiply(*call);
}
