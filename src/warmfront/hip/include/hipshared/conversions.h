// Conversions between numbers with a named rounding: to nearest (rn), towards zero (rz), down (rd), up (ru).
//
// The target provides hiptarget::to_integer<To>(x), which saturates and converts NaN to 0, and
// hiptarget::Widest, the floating-point type in which a number and its rounded value are compared.
#pragma once

HIPTARGET_HOST_DEVICE_BEGIN

namespace hipshared {

// The adjacent number in the order of the bits: away from zero for 1, towards zero for -1.
inline float step(float x, int by) { return __builtin_bit_cast(float, __builtin_bit_cast(int, x) + by); }
inline double step(double x, int by) {
  return __builtin_bit_cast(double, __builtin_bit_cast(long long, x) + by);
}

// These return `auto` so that each is instantiated where it is first named: in the precompiled header, not at
// the end of every file that includes it.
template <class To, class From>
inline auto at_most(From x) {
  const To nearest = static_cast<To>(x);
  const bool above = static_cast<hiptarget::Widest>(nearest) > static_cast<hiptarget::Widest>(x);
  return above ? step(nearest, x > 0 ? -1 : 1) : nearest;
}
template <class To, class From>
inline auto at_least(From x) {
  const To nearest = static_cast<To>(x);
  const bool below = static_cast<hiptarget::Widest>(nearest) < static_cast<hiptarget::Widest>(x);
  return below ? step(nearest, x > 0 ? 1 : -1) : nearest;
}
template <class To, class From>
inline auto towards_zero(From x) {
  return x < 0 ? at_least<To>(x) : at_most<To>(x);
}

}  // namespace hipshared

HIPTARGET_HOST_DEVICE_END

#define HIPSHARED_TO_INTEGER(from, from_name, suffix, to, to_name)  \
  __device__ static inline to __##from_name##2##to_name##_rn(from x) {         \
    return hiptarget::to_integer<to>(__builtin_rint##suffix(x));    \
  }                                                                 \
  __device__ static inline to __##from_name##2##to_name##_rz(from x) {         \
    return hiptarget::to_integer<to>(__builtin_trunc##suffix(x));   \
  }                                                                 \
  __device__ static inline to __##from_name##2##to_name##_rd(from x) {         \
    return hiptarget::to_integer<to>(__builtin_floor##suffix(x));   \
  }                                                                 \
  __device__ static inline to __##from_name##2##to_name##_ru(from x) {         \
    return hiptarget::to_integer<to>(__builtin_ceil##suffix(x));    \
  }
HIPSHARED_TO_INTEGER(float, float, f, int, int)
HIPSHARED_TO_INTEGER(float, float, f, unsigned, uint)
HIPSHARED_TO_INTEGER(float, float, f, long long, ll)
HIPSHARED_TO_INTEGER(float, float, f, unsigned long long, ull)
HIPSHARED_TO_INTEGER(double, double, , int, int)
HIPSHARED_TO_INTEGER(double, double, , unsigned, uint)
HIPSHARED_TO_INTEGER(double, double, , long long, ll)
HIPSHARED_TO_INTEGER(double, double, , unsigned long long, ull)
#undef HIPSHARED_TO_INTEGER

#define HIPSHARED_TO_FLOATING(from, from_name, to)                                              \
  __device__ static inline to __##from_name##2##to##_rn(from x) { return static_cast<to>(x); }             \
  __device__ static inline to __##from_name##2##to##_rz(from x) { return hipshared::towards_zero<to>(x); } \
  __device__ static inline to __##from_name##2##to##_rd(from x) { return hipshared::at_most<to>(x); }      \
  __device__ static inline to __##from_name##2##to##_ru(from x) { return hipshared::at_least<to>(x); }
HIPSHARED_TO_FLOATING(int, int, float)
HIPSHARED_TO_FLOATING(unsigned, uint, float)
HIPSHARED_TO_FLOATING(long long, ll, float)
HIPSHARED_TO_FLOATING(unsigned long long, ull, float)
HIPSHARED_TO_FLOATING(double, double, float)
HIPSHARED_TO_FLOATING(long long, ll, double)
HIPSHARED_TO_FLOATING(unsigned long long, ull, double)
#undef HIPSHARED_TO_FLOATING
__device__ static inline double __int2double_rn(int x) { return x; }
__device__ static inline double __uint2double_rn(unsigned x) { return x; }

__device__ static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__device__ static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__device__ static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__device__ static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__device__ static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__device__ static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__device__ static inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
__device__ static inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
__device__ static inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}
