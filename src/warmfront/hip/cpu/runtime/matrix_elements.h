// The elements of matrix instructions as they are stored, and where the results are: shared by dense and sparse forms.
#pragma once

#include <hipcpu/matrix.h>

#include <bit>
#include <cstdint>

#include <hipshared/fp8_decode.h>

#include "text.h"

namespace hipcpu {

template <MatrixType>
struct Element;
template <>
struct Element<MatrixType::kF32> {
  using Stored = float;
  using Sum = float;
  static float decode(float x) { return x; }
};
template <>
struct Element<MatrixType::kXf32> {
  using Stored = float;
  using Sum = float;
  // 10 of the 23 bits of the significand; the rest is cut off.
  static float decode(float x) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & ~uint32_t{0x1fff});
  }
};
template <>
struct Element<MatrixType::kF64> {
  using Stored = double;
  using Sum = double;
  static double decode(double x) { return x; }
};
template <>
struct Element<MatrixType::kF16> {
  using Stored = _Float16;
  using Sum = float;
  static float decode(_Float16 x) { return static_cast<float>(x); }
};
template <>
struct Element<MatrixType::kBf16> {
  using Stored = uint16_t;
  using Sum = float;
  static float decode(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }
};
template <>
struct Element<MatrixType::kI8> {
  using Stored = int8_t;
  using Sum = uint32_t;  // wraps around
  static uint32_t decode(int8_t x) { return static_cast<uint32_t>(int32_t{x}); }
};
template <hipshared::Fp8Format format>
struct Fp8Element {
  using Stored = uint8_t;
  using Sum = float;
  static constexpr hipshared::Fp8Table kTable = hipshared::fp8_table(format);
  static float decode(uint8_t x) { return kTable.value[x]; }
};
template <>
struct Element<MatrixType::kFp8> : Fp8Element<hipshared::Fp8Format::kE4m3Fnuz> {};
template <>
struct Element<MatrixType::kBf8> : Fp8Element<hipshared::Fp8Format::kE5m2Fnuz> {};
template <>
struct Element<MatrixType::kOcpFp8> : Fp8Element<hipshared::Fp8Format::kE4m3> {};
template <>
struct Element<MatrixType::kOcpBf8> : Fp8Element<hipshared::Fp8Format::kE5m2> {};

// The elements of a form on gfx950.
constexpr MatrixType ocp_type(MatrixType type) {
  if (type == MatrixType::kFp8) return MatrixType::kOcpFp8;
  return type == MatrixType::kBf8 ? MatrixType::kOcpBf8 : type;
}

// The rows of an M x N result with 32-bit items. Lane % N is the column; a group of 64 / (lanes per row) lanes shares rows.
template <int M>
struct ResultRows {
  static constexpr int kCount = M * M / 64;     // per lane
  static constexpr int kGroups = M / kCount;    // of lanes, which have different rows
  static constexpr int row(int group, int r) { return 4 * kGroups * (r / 4) + 4 * group + r % 4; }
};

// Ends the run with a fault that names the line and the instruction.
[[noreturn]] void refuse_matrix(const char* name, int line, Text& why);

// Ends the run unless all lanes of the wave execute the instruction.
void check_lanes(const char* name, int line, uint64_t lanes);

}  // namespace hipcpu
