// The arithmetic of matrix instructions: one call multiplies the operands of a whole wave.
//
// Which lane has which item, for M x N x K and B blocks (AMD's matrix instruction calculator prints the same):
//   A  a lane has I = M * K * B / 64 items. A[i][k] of block b is item k % I of lane i + M * (b + B * (k / I)).
//   B  the same with column j in place of row i.
//   D  lane % N is the column. The items of a lane are runs of R rows:
//        32 x 32    16 rows: item r of lane l is row 8 * (r / 4) + 4 * (l / 32) + r % 4; then the next block
//        16 x 16    4 rows: 4 * (l / 16) + r, and 4 * r + l / 16 for doubles; then the next block
//        4 x 4      4 rows: r, of block l / 4; for doubles one row: l / 16, of block l / 4 % 4
//
// Each element of D is a chain of fused multiply-adds, in the order of k. That is what gfx942 does for f32 and f64, and what
// integers need no order for. For narrower types it adds several products at once and truncates their sum in between, so
// that the last bits differ (Xie et al., "MMA-Sim", 2025, who measured both). Subnormals are kept, as there.
#ifndef __clang__
#pragma GCC optimize("O3")  // unrolls the loops over items, as clang does: `python -m bench.mfma`
#endif

#include <hipcpu/matrix.h>

#include <cstddef>

#include "checks.h"
#include "faults.h"
#include "matrix_elements.h"
#include "text.h"

#undef __builtin_shufflevector  // of the compiler, not of ext_vector.h

extern "C" {
__thread hipcpu::MatrixOperands hipcpu_matrix;
}

namespace hipcpu {

namespace {

// The lane from which a lane gets its part of B, for each value of BLGP.
constexpr uint32_t b_lane(uint32_t lane, int blgp) {
  switch (blgp) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7: return lane % 16 + 16 * static_cast<uint32_t>(blgp - 4);
    default: return lane;
  }
}

// A form, and where its elements are.
template <int m, int n, int k, int blocks, MatrixType a_type, MatrixType b_type>
struct Shape {
  static constexpr int M = m, N = n, K = k, B = blocks;
  using A = Element<a_type>;
  using BElement = Element<b_type>;
  using Sum = typename A::Sum;
  static constexpr bool kIsDouble = a_type == MatrixType::kF64;
  static constexpr int kItems = M * K * B / 64;       // of A and of B, per lane
  static constexpr int kResults = M * N * B / 64;     // per lane
  static constexpr bool kBlockIsInLane = M == 4;      // else a lane has results of every block
  static constexpr int kRuns = kBlockIsInLane ? 1 : B;
  static constexpr int kRows = kResults / kRuns;      // of one run
  static constexpr int kGroups = M / kRows;           // of lanes, which have different rows
  // What gfx942 has for this form.
  static constexpr bool kHasBroadcast = B > 1 && !kIsDouble;
  static constexpr bool kHasPattern = (B > 1 || a_type == MatrixType::kF32) && !kIsDouble;

  static constexpr int row(int group, int r) {
    if (kIsDouble) return kGroups * r + group;
    return 4 * kGroups * (r / 4) + 4 * group + r % 4;
  }
  static constexpr int group(int lane) { return lane / (64 / kGroups); }
  static constexpr int block(int lane, int run) { return kBlockIsInLane ? lane / 4 % B : run; }
};

template <class S>
using RowsOf __attribute__((vector_size(S::kRows * sizeof(typename S::Sum)))) = typename S::Sum;

// The operands, decoded: A in the order in which the loop needs it, B as the lanes have it.
template <class S>
struct Packed {
  using Sum = typename S::Sum;
  alignas(64) Sum a[S::B][S::kGroups][S::K][S::kRows];
  alignas(64) Sum b[64][S::kItems];
};

template <class Element, int count>
void decode(const unsigned char* from, typename Element::Sum* to) {
  typename Element::Stored stored[count];
  __builtin_memcpy(stored, from, sizeof stored);
  for (int i = 0; i < count; ++i) to[i] = Element::decode(stored[i]);
}

// Transposes four items of four lanes: to[k][r] = from[r][k].
template <class Sum, int from_width, int to_width>
inline void transpose_4x4(const Sum* from, Sum* to) {
  using Four __attribute__((vector_size(16))) = Sum;
  Four row[4];
  for (int r = 0; r < 4; ++r) __builtin_memcpy(&row[r], from + r * from_width, sizeof(Four));
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Four column[4] = {
      __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
      __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k) __builtin_memcpy(to + k * to_width, &column[k], sizeof(Four));
}

template <class S>
inline void pack_a(const typename S::Sum (*a)[S::kItems], int source, typename S::Sum (*to)[S::K][S::kRows]) {
  for (int group = 0; group < S::kGroups; ++group) {
    if constexpr (S::kItems % 4 == 0 && S::kRows % 4 == 0 && !S::kIsDouble) {
      for (int r = 0; r < S::kRows; r += 4)  // four consecutive rows are in four consecutive lanes
        for (int k = 0; k < S::K; k += 4)
          transpose_4x4<typename S::Sum, S::kItems, S::kRows>(
              &a[S::row(group, r) + S::M * (source + S::B * (k / S::kItems))][k % S::kItems], &to[group][k][r]);
    } else {
      for (int k = 0; k < S::K; ++k)
        for (int r = 0; r < S::kRows; ++r)
          to[group][k][r] = a[S::row(group, r) + S::M * (source + S::B * (k / S::kItems))][k % S::kItems];
    }
  }
}

template <class S>
void pack(const MatrixOperands& operands, const MatrixCall& call, Packed<S>& packed) {
  alignas(64) typename S::Sum a[64][S::kItems];
  decode<typename S::A, 64 * S::kItems>(operands.a, a[0]);
  decode<typename S::BElement, 64 * S::kItems>(operands.b, packed.b[0]);
  const int shared = S::kHasBroadcast ? (1 << call.cbsz) - 1 : 0;  // blocks that differ only in these bits share one A
  for (int block = 0; block < S::B; ++block)
    pack_a<S>(a, S::kHasBroadcast && shared ? (block & ~shared) + call.abid : block, packed.a[block]);
  if (S::kHasPattern && call.blgp != 0) {
    typename S::Sum b[64][S::kItems];
    __builtin_memcpy(b, packed.b, sizeof b);
    for (uint32_t lane = 0; lane < 64; ++lane)
      __builtin_memcpy(packed.b[lane], b[b_lane(lane, call.blgp)], sizeof b[0]);
  }
}

// Adds to the results of `lanes` consecutive lanes, which share the rows of A.
template <class S, int lanes>
inline void multiply_lanes(const Packed<S>& packed, typename S::Sum (*c)[S::kResults], int lane, int run) {
  using Rows = RowsOf<S>;
  Rows sums[lanes];
  for (int l = 0; l < lanes; ++l) __builtin_memcpy(&sums[l], &c[lane + l][run * S::kRows], sizeof(Rows));
  const int block = S::block(lane, run);
  const auto& a = packed.a[block][S::group(lane)];
  const auto* columns = &packed.b[lane % S::N + S::N * block];
  for (int k = 0; k < S::K; ++k) {
    Rows rows;
    __builtin_memcpy(&rows, a[k], sizeof(Rows));
    for (int l = 0; l < lanes; ++l)
      sums[l] += rows * columns[l + S::N * S::B * (k / S::kItems)][k % S::kItems];
  }
  for (int l = 0; l < lanes; ++l) __builtin_memcpy(&c[lane + l][run * S::kRows], &sums[l], sizeof(Rows));
}

template <class S>
void negate(typename S::Sum* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = -values[i];
}

template <class S>
void multiply_wave(const MatrixCall& call) {
  MatrixOperands& operands = hipcpu_matrix;
  Packed<S> packed;
  pack<S>(operands, call, packed);
  auto* c = reinterpret_cast<typename S::Sum(*)[S::kResults]>(operands.c);
  if constexpr (S::kIsDouble) {  // BLGP has the signs of A, B and C
    if ((call.blgp & 1) != 0) negate<S>(&packed.a[0][0][0][0], sizeof packed.a / sizeof(double));
    if ((call.blgp & 2) != 0) negate<S>(&packed.b[0][0], sizeof packed.b / sizeof(double));
    if ((call.blgp & 4) != 0) negate<S>(&c[0][0], 64 * S::kResults);
  }
  constexpr int kLanes = S::N % 8 == 0 ? 8 : 4;  // enough independent sums for the processor's pipelines
  for (int run = 0; run < S::kRuns; ++run)
    for (int lane = 0; lane < 64; lane += kLanes) multiply_lanes<S, kLanes>(packed, c, lane, run);
}

// A form as the table has it.
struct Entry {
  const char* name;
  int blocks;
  bool has_broadcast, has_pattern, is_double;
  void (*multiply)(const MatrixCall&);
};

template <class S>
constexpr Entry entry(const char* name) {
  return {name, S::B, S::kHasBroadcast, S::kHasPattern, S::kIsDouble, multiply_wave<S>};
}

constexpr Entry kForms[] = {
#define HIPCPU_FORM(name, A, C, rows, columns, depth, blocks, a, b) \
  entry<Shape<rows, columns, depth, blocks, MatrixType::k##a, MatrixType::k##b>>("__builtin_amdgcn_mfma_" #name),
    HIPCPU_DENSE_FORMS(HIPCPU_FORM) HIPCPU_GFX942_FORMS(HIPCPU_FORM) HIPCPU_GFX950_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

constexpr Entry kOcpForms[] = {
#define HIPCPU_FORM(name, A, C, rows, columns, depth, blocks, a, b)                                    \
  entry<Shape<rows, columns, depth, blocks, ocp_type(MatrixType::k##a), ocp_type(MatrixType::k##b)>>( \
      "__builtin_amdgcn_mfma_" #name),
    HIPCPU_DENSE_FORMS(HIPCPU_FORM) HIPCPU_GFX942_FORMS(HIPCPU_FORM) HIPCPU_GFX950_FORMS(HIPCPU_FORM)
#undef HIPCPU_FORM
};

void check(const Entry& form, const MatrixCall& call, uint64_t lanes) {
  check_lanes(form.name, call.line, lanes);
  if (call.cbsz == 0 && call.abid == 0 && call.blgp == 0) return;
  Text why;
  if (call.cbsz < 0 || call.cbsz > 4 || (1 << call.cbsz) > form.blocks || (call.cbsz && !form.has_broadcast)) {
    why << "cbsz is " << call.cbsz << ", but ";
    if (form.has_broadcast)
      why << "the form has " << form.blocks << " blocks";
    else
      why << "gfx942 has no broadcast of A for this form: pass 0";
    refuse_matrix(form.name, call.line, why);
  }
  if (call.abid < 0 || call.abid >= (1 << call.cbsz)) {
    why << "abid is " << call.abid << ", but it selects one of the 2^cbsz = " << (1 << call.cbsz) << " blocks of A";
    refuse_matrix(form.name, call.line, why);
  }
  if (call.blgp < 0 || call.blgp > 7 || (call.blgp && !form.has_pattern && !form.is_double)) {
    why << "blgp is " << call.blgp
        << (form.has_pattern ? ", but it is between 0 and 7" : ", but gfx942 has no pattern of B for this form: pass 0");
    refuse_matrix(form.name, call.line, why);
  }
}

}  // namespace

void refuse_matrix(const char* name, int line, Text& why) {
  Text detail;
  detail << "line " << static_cast<uint64_t>(line) << ": " << name << ": " << why.data();
  fault("matrix-instruction", detail.data(), 134);
}

void check_lanes(const char* name, int line, uint64_t lanes) {
  if (lanes == ~uint64_t{0}) return;
  Text why;
  why << "only " << static_cast<uint64_t>(std::popcount(lanes))
      << " of 64 lanes execute it; the others would contribute whatever is in their registers";
  checks::inactive_matrix_lanes(line, why.data());
  refuse_matrix(name, line, why);
}

}  // namespace hipcpu

extern "C" void hipcpu_multiply(hipcpu::MatrixForm form, const hipcpu::MatrixCall* call, bool ocp, uint64_t lanes) {
  const hipcpu::Entry& entry = (ocp ? hipcpu::kOcpForms : hipcpu::kForms)[static_cast<size_t>(form)];
  hipcpu::check(entry, *call, lanes);
  entry.multiply(*call);
}
