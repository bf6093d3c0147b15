// The arithmetic of gfx950's matrix instructions with fp8, fp6 or fp4 elements and scales, for a whole wave.
//
// Which lane has which item, for M x M x K with M * K = 2048, and G = lane / M:
//   A      32 items per lane, of the row lane % M. With fp8, items 0 to 15 are columns 16 * G to 16 * G + 15, and items 16 to 31
//          those that are K / 2 later. With fp6 and fp4, they are columns 32 * G to 32 * G + 31, as 32 times 6 or 4
//          consecutive bits.
//   scale  of columns 32 * G to 32 * G + 31 of the row lane % M, as a byte of the register.
//   B      the same with columns in place of rows.
//   D      as with other forms: see matrix.cpp.
// Sources: AMD's "Matrix Core Programming on AMD CDNA3 and CDNA4 architecture" (rocm.blogs.amd.com, 2025) for fp8 and fp4, and
// AMD's tests of Composable Kernel (test/mx_mfma_op), which print the lanes of the scales. That fp6 is like fp4 is assumed.
//
// The products are exact. Their sum is computed in double precision and rounded once; how the GPU rounds is not documented.
#ifndef __clang__
#pragma GCC optimize("O3")  // as in matrix.cpp
#endif

// Before our own headers, which define __noinline__.
#include <bit>

#include <hipcpu/core.h>
#include <hipcpu/gfx950_matrix.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <hipshared/minifloat.h>

#include "matrix_elements.h"

namespace hipcpu {

namespace {

constexpr int kItems = 32;   // per lane
constexpr int kGroups = 4;   // of columns with one scale, at most

double decode_item(MatrixFormat format, const unsigned char* bytes, int item) {
  const int bits = format == MatrixFormat::kE2m1 ? 4 : format >= MatrixFormat::kE2m3 ? 6 : 8;
  const int first = bits * item;
  const unsigned pair = bytes[first / 8] | static_cast<unsigned>(bytes[(first + bits - 1) / 8]) << 8;
  const unsigned code = (first / 8 == (first + bits - 1) / 8 ? bytes[first / 8] : pair) >> first % 8 & ((1u << bits) - 1);
  switch (format) {
    case MatrixFormat::kE4m3: return hipshared::E4m3::decode(code);
    case MatrixFormat::kE5m2: return hipshared::E5m2::decode(code);
    case MatrixFormat::kE2m3: return hipshared::E2m3::decode(code);
    case MatrixFormat::kE3m2: return hipshared::E3m2::decode(code);
    default: return hipshared::E2m1::decode(code);
  }
}

// The value of a scale: a power of two, or NaN.
double decode_scale(unsigned code) {
  return code == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(code) - 127);
}

// The column of A, or the row of B, of an item.
template <int M>
constexpr int depth_of(bool is_fp8, int lane, int item) {
  constexpr int kDepth = 2048 / M;
  if (is_fp8) return 16 * (lane / M) + item % 16 + kDepth / 2 * (item / 16);
  return kItems * (lane / M) + item;
}

// Decodes an operand and multiplies it by its scales.
template <int M>
void unpack(const unsigned char* bytes, MatrixFormat format, const uint32_t* scales, int select, bool has_scales,
            double (*to)[2048 / M]) {
  double scale[M][kGroups];
  for (int lane = 0; lane < 64; ++lane)
    scale[lane % M][lane / M] = has_scales ? decode_scale(scales[lane] >> 8 * select & 0xff) : 1.0;
  for (int lane = 0; lane < 64; ++lane)
    for (int item = 0; item < kItems; ++item) {
      const int k = depth_of<M>(format <= MatrixFormat::kE5m2, lane, item);
      to[lane % M][k] = decode_item(format, bytes + 32 * lane, item) * scale[lane % M][k / 32];
    }
}

template <int M>
void multiply_wave(const ScaledCall& call) {
  constexpr int kDepth = 2048 / M;
  using Rows = ResultRows<M>;
  MatrixOperands& operands = hipcpu_matrix;
  alignas(64) static thread_local double a[M][kDepth], b[M][kDepth], columns[kDepth][M];
  unpack<M>(operands.a, static_cast<MatrixFormat>(call.format_a), operands.scale_a, call.select_a, call.has_scales, a);
  unpack<M>(operands.b, static_cast<MatrixFormat>(call.format_b), operands.scale_b, call.select_b, call.has_scales, b);
  for (int k = 0; k < kDepth; ++k)
    for (int j = 0; j < M; ++j) columns[k][j] = b[j][k];
  auto* c = reinterpret_cast<float(*)[Rows::kCount]>(operands.c);
  for (int group = 0; group < Rows::kGroups; ++group)
    for (int r = 0; r < Rows::kCount; ++r) {
      double sums[M];
      for (int j = 0; j < M; ++j) sums[j] = c[M * group + j][r];
      const double* row = a[Rows::row(group, r)];
      for (int k = 0; k < kDepth; ++k)
        for (int j = 0; j < M; ++j) sums[j] += row[k] * columns[k][j];
      for (int j = 0; j < M; ++j) c[M * group + j][r] = static_cast<float>(sums[j]);
    }
}

void check(const char* name, const ScaledCall& call, uint64_t lanes) {
  check_lanes(name, call.line, lanes);
  Text why;
  const bool is_format = call.format_a >= 0 && call.format_a <= 4 && call.format_b >= 0 && call.format_b <= 4;
  if (!is_format) {
    why << "the formats are " << call.format_a << " and " << call.format_b
        << ", but a format is 0 (e4m3), 1 (e5m2), 2 (e2m3), 3 (e3m2) or 4 (e2m1)";
    refuse_matrix(name, call.line, why);
  }
  if (call.select_a < 0 || call.select_a > 3 || call.select_b < 0 || call.select_b > 3) {
    why << "the scales are bytes " << call.select_a << " and " << call.select_b << " of a register, which has bytes 0 to 3";
    refuse_matrix(name, call.line, why);
  }
}

}  // namespace

}  // namespace hipcpu

extern "C" void hipcpu_multiply_scaled(int rows, const hipcpu::ScaledCall* call, uint64_t lanes) {
  if (rows == 16) {
    hipcpu::check("__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4", *call, lanes);
    hipcpu::multiply_wave<16>(*call);
  } else {
    hipcpu::check("__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4", *call, lanes);
    hipcpu::multiply_wave<32>(*call);
  }
}
