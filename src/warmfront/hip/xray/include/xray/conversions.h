// Conversions of numbers with a named rounding, and the bits of one type taken for another.
//
// The target's own conversions saturate and take NaN for 0, which is what HIP promises.
#pragma once

#pragma clang force_cuda_host_device begin

namespace xray {

// The next number of the same kind, upwards or downwards.
inline float step(float x, int by) { return __builtin_bit_cast(float, __builtin_bit_cast(int, x) + by); }
inline double step(double x, int by) { return __builtin_bit_cast(double, __builtin_bit_cast(long long, x) + by); }

template <class To, class From>
inline To at_most(From x) {
  const To nearest = static_cast<To>(x);
  return static_cast<double>(nearest) > static_cast<double>(x) ? step(nearest, nearest > 0 ? -1 : 1) : nearest;
}
template <class To, class From>
inline To at_least(From x) {
  const To nearest = static_cast<To>(x);
  return static_cast<double>(nearest) < static_cast<double>(x) ? step(nearest, nearest > 0 ? 1 : -1) : nearest;
}
template <class To, class From>
inline To towards_zero(From x) {
  return x < 0 ? at_least<To>(x) : at_most<To>(x);
}

}  // namespace xray

#define XRAY_TO_INTEGER(from, from_name, suffix, to, to_name)                                                       \
  static inline to __##from_name##2##to_name##_rn(from x) { return static_cast<to>(__builtin_rint##suffix(x)); }    \
  static inline to __##from_name##2##to_name##_rz(from x) { return static_cast<to>(__builtin_trunc##suffix(x)); }   \
  static inline to __##from_name##2##to_name##_rd(from x) { return static_cast<to>(__builtin_floor##suffix(x)); }   \
  static inline to __##from_name##2##to_name##_ru(from x) { return static_cast<to>(__builtin_ceil##suffix(x)); }
XRAY_TO_INTEGER(float, float, f, int, int)
XRAY_TO_INTEGER(float, float, f, unsigned, uint)
XRAY_TO_INTEGER(float, float, f, long long, ll)
XRAY_TO_INTEGER(float, float, f, unsigned long long, ull)
XRAY_TO_INTEGER(double, double, , int, int)
XRAY_TO_INTEGER(double, double, , unsigned, uint)
XRAY_TO_INTEGER(double, double, , long long, ll)
XRAY_TO_INTEGER(double, double, , unsigned long long, ull)
#undef XRAY_TO_INTEGER

#define XRAY_TO_FLOATING(from, from_name, to)                                                \
  static inline to __##from_name##2##to##_rn(from x) { return static_cast<to>(x); }          \
  static inline to __##from_name##2##to##_rz(from x) { return xray::towards_zero<to>(x); }   \
  static inline to __##from_name##2##to##_rd(from x) { return xray::at_most<to>(x); }        \
  static inline to __##from_name##2##to##_ru(from x) { return xray::at_least<to>(x); }
XRAY_TO_FLOATING(int, int, float)
XRAY_TO_FLOATING(unsigned, uint, float)
XRAY_TO_FLOATING(long long, ll, float)
XRAY_TO_FLOATING(unsigned long long, ull, float)
XRAY_TO_FLOATING(double, double, float)
XRAY_TO_FLOATING(int, int, double)
XRAY_TO_FLOATING(unsigned, uint, double)
XRAY_TO_FLOATING(long long, ll, double)
XRAY_TO_FLOATING(unsigned long long, ull, double)
#undef XRAY_TO_FLOATING

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

#pragma clang force_cuda_host_device end
