// hip_bfloat16, the older type for the upper half of a float. Unlike __hip_bfloat16, it converts from float
// only explicitly.
#pragma once

#include <hip/hip_bf16.h>

HIPTARGET_HOST_DEVICE_BEGIN

struct hip_bfloat16 {
  unsigned short data;

  enum truncate_t { truncate };

  hip_bfloat16() = default;
  explicit hip_bfloat16(float x) : data(round(x)) {}
  explicit hip_bfloat16(float x, truncate_t) : data(cut(x)) {}

  operator float() const { return __builtin_bit_cast(float, static_cast<unsigned>(data) << 16); }
  hip_bfloat16& operator=(const float& x) {
    data = round(x);
    return *this;
  }

  static hip_bfloat16 round_to_bfloat16(float x) { return hip_bfloat16(x); }
  static hip_bfloat16 round_to_bfloat16(float x, truncate_t) { return hip_bfloat16(x, truncate); }

  friend hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
  friend hip_bfloat16 operator-(hip_bfloat16 a) {
    a.data ^= 0x8000;
    return a;
  }
#define HIPSHARED_BFLOAT_ARITHMETIC(op) \
  friend hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16(float(a) op float(b)); } \
  friend hip_bfloat16& operator op##=(hip_bfloat16& a, hip_bfloat16 b) { return a = a op b; }
  HIPSHARED_BFLOAT_ARITHMETIC(+)
  HIPSHARED_BFLOAT_ARITHMETIC(-)
  HIPSHARED_BFLOAT_ARITHMETIC(*)
  HIPSHARED_BFLOAT_ARITHMETIC(/)
#undef HIPSHARED_BFLOAT_ARITHMETIC
#define HIPSHARED_BFLOAT_COMPARE(op) \
  friend bool operator op(hip_bfloat16 a, hip_bfloat16 b) { return float(a) op float(b); }
  HIPSHARED_BFLOAT_COMPARE(==)
  HIPSHARED_BFLOAT_COMPARE(!=)
  HIPSHARED_BFLOAT_COMPARE(<)
  HIPSHARED_BFLOAT_COMPARE(>)
#undef HIPSHARED_BFLOAT_COMPARE
  // As in ROCm, these hold if a number is NaN.
  friend bool operator<=(hip_bfloat16 a, hip_bfloat16 b) { return !(a > b); }
  friend bool operator>=(hip_bfloat16 a, hip_bfloat16 b) { return !(a < b); }
  friend hip_bfloat16& operator++(hip_bfloat16& a) { return a += hip_bfloat16(1.0f); }
  friend hip_bfloat16& operator--(hip_bfloat16& a) { return a -= hip_bfloat16(1.0f); }
  friend hip_bfloat16 operator++(hip_bfloat16& a, int) {
    const hip_bfloat16 before = a;
    ++a;
    return before;
  }
  friend hip_bfloat16 operator--(hip_bfloat16& a, int) {
    const hip_bfloat16 before = a;
    --a;
    return before;
  }

 private:
  // A NaN whose digits are all in the lower half stays a NaN.
  static unsigned short cut(float x) {
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    return static_cast<unsigned short>(bits >> 16 | (x != x && (bits & 0xffff) != 0));
  }
  // To the nearest, ties to even.
  static unsigned short round(float x) {
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    return x != x ? cut(x) : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

namespace std {

constexpr bool isinf(hip_bfloat16 a) { return (a.data & 0x7fff) == 0x7f80; }
constexpr bool isnan(hip_bfloat16 a) { return (a.data & 0x7fff) > 0x7f80; }
constexpr bool iszero(hip_bfloat16 a) { return (a.data & 0x7fff) == 0; }

}  // namespace std

HIPTARGET_HOST_DEVICE_END
