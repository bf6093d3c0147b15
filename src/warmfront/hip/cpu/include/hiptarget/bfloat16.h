// __hip_bfloat16 as 16 bits: the compilers of the CPU runtime have no arithmetic type for it.
#pragma once

#include <hiptarget/narrow.h>

namespace hipcpu {

// The upper 16 bits, rounded to the nearest, ties to even; a NaN stays a NaN.
inline unsigned short bfloat_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return static_cast<unsigned short>(bits >> 16 | 0x40);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A float whose last bit is set if digits were lost, so that rounding it again does no harm.
inline float sticky_float(double x) {
  const float nearest = static_cast<float>(x);
  if (nearest == x || x != x) return nearest;
  const float truncated = hipshared::towards_zero<float>(x);
  return __uint_as_float(__float_as_uint(truncated) | 1);
}

}  // namespace hipcpu

struct __hip_bfloat16_raw {
  unsigned short x;
};

struct __hip_bfloat16 : hipcpu::Narrow<__hip_bfloat16> {
  unsigned short native;

  __hip_bfloat16() = default;
  __hip_bfloat16(float x) : native(hipcpu::bfloat_bits(x)) {}
  template <class T>
    requires(std::is_arithmetic_v<T> && sizeof(T) <= (std::is_integral_v<T> ? 4 : 8))
  __hip_bfloat16(T x) : __hip_bfloat16(hipcpu::sticky_float(static_cast<double>(x))) {}
  template <class T>
    requires(std::is_integral_v<T> && sizeof(T) == 8)
  __hip_bfloat16(T) = delete;  // ambiguous in HIP
  __hip_bfloat16(__hip_bfloat16_raw raw) : native(raw.x) {}

  operator float() const { return __uint_as_float(static_cast<unsigned>(native) << 16); }
  operator __hip_bfloat16_raw() const { return {native}; }
};
