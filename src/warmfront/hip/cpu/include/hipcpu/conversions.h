// Conversions of numbers with a named rounding, and the bits of one type taken for another.
//
// On the GPU a number that does not fit becomes the nearest that does, and NaN becomes 0. In C++ that
// would be undefined, so it is spelled out here.
#pragma once

#include <cmath>
#include <limits>

namespace hipcpu {

// They return `auto` so that each is instantiated where it is first named: in the precompiled header, not at
// the end of every file that includes it.
template <class To, class From>
inline auto saturate(From x) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kBeyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  if (x != x) return To(0);
  if (x <= kLow) return std::numeric_limits<To>::min();
  if (x >= kBeyond) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

// long double holds every 64-bit integer and every double, on x86-64 and on aarch64 alike.
template <class To, class From>
inline auto at_most(From x) {
  To r = static_cast<To>(x);
  return static_cast<long double>(r) > static_cast<long double>(x)
             ? std::nextafter(r, -std::numeric_limits<To>::infinity())
             : r;
}
template <class To, class From>
inline auto at_least(From x) {
  To r = static_cast<To>(x);
  return static_cast<long double>(r) < static_cast<long double>(x)
             ? std::nextafter(r, std::numeric_limits<To>::infinity())
             : r;
}
template <class To, class From>
inline auto towards_zero(From x) {
  return x < 0 ? at_least<To>(x) : at_most<To>(x);
}

}  // namespace hipcpu

#define HIPCPU_TO_INTEGER(from, from_name, to, to_name)                                                    \
  static inline to __##from_name##2##to_name##_rn(from x) { return hipcpu::saturate<to>(std::nearbyint(x)); } \
  static inline to __##from_name##2##to_name##_rz(from x) { return hipcpu::saturate<to>(std::trunc(x)); }  \
  static inline to __##from_name##2##to_name##_rd(from x) { return hipcpu::saturate<to>(std::floor(x)); }  \
  static inline to __##from_name##2##to_name##_ru(from x) { return hipcpu::saturate<to>(std::ceil(x)); }
HIPCPU_TO_INTEGER(float, float, int, int)
HIPCPU_TO_INTEGER(float, float, unsigned, uint)
HIPCPU_TO_INTEGER(float, float, long long, ll)
HIPCPU_TO_INTEGER(float, float, unsigned long long, ull)
HIPCPU_TO_INTEGER(double, double, int, int)
HIPCPU_TO_INTEGER(double, double, unsigned, uint)
HIPCPU_TO_INTEGER(double, double, long long, ll)
HIPCPU_TO_INTEGER(double, double, unsigned long long, ull)
#undef HIPCPU_TO_INTEGER

#define HIPCPU_TO_FLOATING(from, from_name, to)                                                            \
  static inline to __##from_name##2##to##_rn(from x) { return static_cast<to>(x); }                        \
  static inline to __##from_name##2##to##_rz(from x) { return hipcpu::towards_zero<to>(x); }               \
  static inline to __##from_name##2##to##_rd(from x) { return hipcpu::at_most<to>(x); }                    \
  static inline to __##from_name##2##to##_ru(from x) { return hipcpu::at_least<to>(x); }
HIPCPU_TO_FLOATING(int, int, float)
HIPCPU_TO_FLOATING(unsigned, uint, float)
HIPCPU_TO_FLOATING(long long, ll, float)
HIPCPU_TO_FLOATING(unsigned long long, ull, float)
HIPCPU_TO_FLOATING(double, double, float)
HIPCPU_TO_FLOATING(int, int, double)
HIPCPU_TO_FLOATING(unsigned, uint, double)
HIPCPU_TO_FLOATING(long long, ll, double)
HIPCPU_TO_FLOATING(unsigned long long, ull, double)
#undef HIPCPU_TO_FLOATING

static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
static inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}
