// The values of the 8-bit floating-point codes, as functions of the code alone.
//
// gfx942 (MI300X) uses the "fnuz" formats: their bias is one larger than that of the OCP formats, there is no infinity and no
// negative zero, and the one NaN is 0x80. gfx950 (MI350X) and newer use the OCP formats.
#pragma once

namespace hipshared {

enum class Fp8Format {
  kE4m3Fnuz,  // "fp8" in the names of gfx942's instructions; up to 240
  kE5m2Fnuz,  // "bf8" there; up to 57344
  kE4m3,      // OCP, no infinity; up to 448
  kE5m2,      // OCP, with infinities; up to 57344
};

struct Fp8Layout {
  int mantissa_bits;
  int bias;
};

constexpr Fp8Layout fp8_layout(Fp8Format format) {
  switch (format) {
    case Fp8Format::kE4m3Fnuz: return {3, 8};
    case Fp8Format::kE5m2Fnuz: return {2, 16};
    case Fp8Format::kE4m3: return {3, 7};
    default: return {2, 15};
  }
}

constexpr bool is_fp8_nan(Fp8Format format, unsigned code) {
  switch (format) {
    case Fp8Format::kE4m3Fnuz:
    case Fp8Format::kE5m2Fnuz: return code == 0x80;
    case Fp8Format::kE4m3: return (code & 0x7f) == 0x7f;
    default: return (code & 0x7f) > 0x7c;
  }
}

// The value of a code, which every format represents exactly as a float.
constexpr float decode_fp8(Fp8Format format, unsigned char code) {
  constexpr unsigned kNan = 0x7fc00000, kInfinity = 0x7f800000;
  const unsigned sign = (code & 0x80u) << 24;
  if (is_fp8_nan(format, code)) return __builtin_bit_cast(float, kNan | sign);
  if (format == Fp8Format::kE5m2 && (code & 0x7f) == 0x7c) return __builtin_bit_cast(float, kInfinity | sign);
  const Fp8Layout layout = fp8_layout(format);
  const int exponent = (code & 0x7f) >> layout.mantissa_bits;
  unsigned mantissa = code & ((1u << layout.mantissa_bits) - 1);
  if (exponent == 0 && mantissa == 0) return __builtin_bit_cast(float, sign);
  int power = exponent - layout.bias;
  if (exponent == 0) {  // subnormal: shift until the leading one is implicit
    for (power = 1 - layout.bias; !(mantissa >> layout.mantissa_bits); --power) mantissa <<= 1;
    mantissa &= (1u << layout.mantissa_bits) - 1;
  }
  const unsigned bits = sign | static_cast<unsigned>(power + 127) << 23 | mantissa << (23 - layout.mantissa_bits);
  return __builtin_bit_cast(float, bits);
}

// All 256 values of a format, for a loop that decodes many codes.
struct Fp8Table {
  float value[256];
};

constexpr Fp8Table fp8_table(Fp8Format format) {
  Fp8Table table{};
  for (unsigned code = 0; code < 256; ++code) table.value[code] = decode_fp8(format, static_cast<unsigned char>(code));
  return table;
}

}  // namespace hipshared
