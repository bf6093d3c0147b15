// Mathematical functions of the device in float and double, under the names of C, of std:: and of HIP.
//
// Functions that the target or the compiler provides are builtins; the rest are from ROCm's device library. The C
// library declares most of these names for the host: a __device__ function of the same name overloads them, and
// the compiler chooses the one that can be called.
#pragma once

#include <math.h>  // not only cmath: kernels call exp, abs and isnan without std::
#include <stdlib.h>

#include <type_traits>

#include <xray/libraries.h>

namespace xray {

using Half = _Float16;
using Widest = double;

// The target's own conversions saturate and convert NaN to 0, which is what HIP promises.
template <class To, class From>
__host__ __device__ inline auto to_integer(From x) {
  return static_cast<To>(x);
}
// Nothing to do: hipcc may fuse these operations as well.
template <class T>
__device__ inline T rounded(T x) {
  return x;
}

}  // namespace xray

#include <hipshared/cache_hints.h>
#include <hipshared/conversions.h>
#include <hipshared/rounded_arithmetic.h>

#define XRAY_DEVICE __device__ static inline

// A function of one argument: for double, for float with the suffix f and as an overload, for integers as double.
#define XRAY_MATH_1(name, in_float, in_double)                                                      \
  XRAY_DEVICE float name##f(float x) { return in_float; }                                           \
  XRAY_DEVICE double name(double x) { return in_double; }                                           \
  XRAY_DEVICE float name(float x) { return in_float; }                                              \
  template <class T>                                                                                \
    requires std::is_integral_v<T>                                                                  \
  XRAY_DEVICE double name(T whole) {                                                                \
    const double x = static_cast<double>(whole);                                                    \
    return in_double;                                                                               \
  }
#define XRAY_LIBRARY_MATH(name, library) XRAY_MATH_1(name, __ocml_##library##_f32(x), __ocml_##library##_f64(x))
#define XRAY_BUILTIN_MATH(name) XRAY_MATH_1(name, __builtin_##name##f(x), __builtin_##name(x))
#define XRAY_MIXED_MATH(name) XRAY_MATH_1(name, __builtin_##name##f(x), __ocml_##name##_f64(x))

XRAY_BUILTIN_MATH(ceil)
XRAY_BUILTIN_MATH(fabs)
XRAY_BUILTIN_MATH(floor)
XRAY_BUILTIN_MATH(nearbyint)
XRAY_BUILTIN_MATH(rint)
XRAY_BUILTIN_MATH(round)
XRAY_BUILTIN_MATH(sqrt)
XRAY_BUILTIN_MATH(trunc)
XRAY_MIXED_MATH(exp)
XRAY_MIXED_MATH(exp2)
XRAY_MIXED_MATH(exp10)
XRAY_MIXED_MATH(log)
XRAY_MIXED_MATH(log2)
XRAY_MIXED_MATH(log10)
XRAY_LIBRARY_MATH(acos, acos)
XRAY_LIBRARY_MATH(acosh, acosh)
XRAY_LIBRARY_MATH(asin, asin)
XRAY_LIBRARY_MATH(asinh, asinh)
XRAY_LIBRARY_MATH(atan, atan)
XRAY_LIBRARY_MATH(atanh, atanh)
XRAY_LIBRARY_MATH(cbrt, cbrt)
XRAY_LIBRARY_MATH(cos, cos)
XRAY_LIBRARY_MATH(cosh, cosh)
XRAY_LIBRARY_MATH(cospi, cospi)
XRAY_LIBRARY_MATH(cyl_bessel_i0, i0)
XRAY_LIBRARY_MATH(cyl_bessel_i1, i1)
XRAY_LIBRARY_MATH(erf, erf)
XRAY_LIBRARY_MATH(erfc, erfc)
XRAY_LIBRARY_MATH(erfcinv, erfcinv)
XRAY_LIBRARY_MATH(erfcx, erfcx)
XRAY_LIBRARY_MATH(erfinv, erfinv)
XRAY_LIBRARY_MATH(expm1, expm1)
XRAY_LIBRARY_MATH(j0, j0)
XRAY_LIBRARY_MATH(j1, j1)
XRAY_LIBRARY_MATH(lgamma, lgamma)
XRAY_LIBRARY_MATH(log1p, log1p)
XRAY_LIBRARY_MATH(logb, logb)
XRAY_LIBRARY_MATH(normcdf, ncdf)
XRAY_LIBRARY_MATH(normcdfinv, ncdfinv)
XRAY_LIBRARY_MATH(rcbrt, rcbrt)
XRAY_LIBRARY_MATH(rsqrt, rsqrt)
XRAY_LIBRARY_MATH(sin, sin)
XRAY_LIBRARY_MATH(sinh, sinh)
XRAY_LIBRARY_MATH(sinpi, sinpi)
XRAY_LIBRARY_MATH(tan, tan)
XRAY_LIBRARY_MATH(tanh, tanh)
XRAY_LIBRARY_MATH(tgamma, tgamma)
XRAY_LIBRARY_MATH(y0, y0)
XRAY_LIBRARY_MATH(y1, y1)
#undef XRAY_BUILTIN_MATH
#undef XRAY_MIXED_MATH
#undef XRAY_LIBRARY_MATH
#undef XRAY_MATH_1

// A function of two arguments; if their types differ, it is computed in double.
#define XRAY_MATH_2(name, in_float, in_double)                                                      \
  XRAY_DEVICE float name##f(float x, float y) { return in_float(x, y); }                            \
  XRAY_DEVICE double name(double x, double y) { return in_double(x, y); }                           \
  XRAY_DEVICE float name(float x, float y) { return in_float(x, y); }                               \
  template <class T, class U>                                                                       \
    requires(std::is_arithmetic_v<T> && std::is_arithmetic_v<U>)                                    \
  XRAY_DEVICE double name(T x, U y) {                                                               \
    return in_double(static_cast<double>(x), static_cast<double>(y));                               \
  }
XRAY_MATH_2(atan2, __ocml_atan2_f32, __ocml_atan2_f64)
XRAY_MATH_2(copysign, __builtin_copysignf, __builtin_copysign)
XRAY_MATH_2(fdim, __ocml_fdim_f32, __ocml_fdim_f64)
XRAY_MATH_2(fmax, __builtin_fmaxf, __builtin_fmax)
XRAY_MATH_2(fmin, __builtin_fminf, __builtin_fmin)
XRAY_MATH_2(fmod, __ocml_fmod_f32, __ocml_fmod_f64)
XRAY_MATH_2(hypot, __ocml_hypot_f32, __ocml_hypot_f64)
XRAY_MATH_2(nextafter, __ocml_nextafter_f32, __ocml_nextafter_f64)
XRAY_MATH_2(pow, __ocml_pow_f32, __ocml_pow_f64)
XRAY_MATH_2(remainder, __ocml_remainder_f32, __ocml_remainder_f64)
XRAY_MATH_2(rhypot, __ocml_rhypot_f32, __ocml_rhypot_f64)
#undef XRAY_MATH_2
XRAY_DEVICE float pow(float x, int n) { return __ocml_pown_f32(x, n); }
XRAY_DEVICE double pow(double x, int n) { return __ocml_pown_f64(x, n); }
XRAY_DEVICE float powif(float x, int n) { return __ocml_pown_f32(x, n); }
XRAY_DEVICE double powi(double x, int n) { return __ocml_pown_f64(x, n); }

XRAY_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
XRAY_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
XRAY_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

XRAY_DEVICE float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
XRAY_DEVICE double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
XRAY_DEVICE float norm4df(float x, float y, float z, float w) { return __builtin_sqrtf(x * x + y * y + z * z + w * w); }
XRAY_DEVICE double norm4d(double x, double y, double z, double w) {
  return __builtin_sqrt(x * x + y * y + z * z + w * w);
}
XRAY_DEVICE float rnorm3df(float x, float y, float z) { return 1 / norm3df(x, y, z); }
XRAY_DEVICE double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
XRAY_DEVICE float rnorm4df(float x, float y, float z, float w) { return 1 / norm4df(x, y, z, w); }
XRAY_DEVICE double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }

// Absolute values, classification, and parts of numbers

XRAY_DEVICE int abs(int x) { return __builtin_abs(x); }
XRAY_DEVICE long abs(long x) { return __builtin_labs(x); }
XRAY_DEVICE long long abs(long long x) { return __builtin_llabs(x); }
XRAY_DEVICE float abs(float x) { return __builtin_fabsf(x); }
XRAY_DEVICE double abs(double x) { return __builtin_fabs(x); }
XRAY_DEVICE long labs(long x) { return __builtin_labs(x); }
XRAY_DEVICE long long llabs(long long x) { return __builtin_llabs(x); }

#define XRAY_KIND(name)                                                  \
  XRAY_DEVICE bool name(float x) { return __builtin_##name(x); }         \
  XRAY_DEVICE bool name(double x) { return __builtin_##name(x); }        \
  template <class T>                                                     \
    requires std::is_integral_v<T>                                       \
  XRAY_DEVICE bool name(T x) {                                           \
    return __builtin_##name(static_cast<double>(x));                     \
  }
XRAY_KIND(isnan)
XRAY_KIND(isinf)
XRAY_KIND(isfinite)
XRAY_KIND(isnormal)
XRAY_KIND(signbit)
#undef XRAY_KIND

#define XRAY_PARTS(type, suffix)                                                                       \
  XRAY_DEVICE type ldexp##suffix(type x, int n) { return __builtin_ldexp##suffix(x, n); }              \
  XRAY_DEVICE type scalbn##suffix(type x, int n) { return __builtin_ldexp##suffix(x, n); }             \
  XRAY_DEVICE type frexp##suffix(type x, int* n) { return __builtin_frexp##suffix(x, n); }             \
  XRAY_DEVICE type modf##suffix(type x, type* whole) {                                                 \
    *whole = __builtin_trunc##suffix(x);                                                               \
    return __builtin_copysign##suffix(x - *whole, x);                                                  \
  }                                                                                                    \
  XRAY_DEVICE int ilogb##suffix(type x) { return static_cast<int>(logb(x)); }                          \
  XRAY_DEVICE long lrint##suffix(type x) { return static_cast<long>(__builtin_rint##suffix(x)); }      \
  XRAY_DEVICE long lround##suffix(type x) { return static_cast<long>(__builtin_round##suffix(x)); }    \
  XRAY_DEVICE long long llrint##suffix(type x) { return static_cast<long long>(__builtin_rint##suffix(x)); }   \
  XRAY_DEVICE long long llround##suffix(type x) { return static_cast<long long>(__builtin_round##suffix(x)); } \
  XRAY_DEVICE void sincos##suffix(type x, type* sine, type* cosine) {                                  \
    *sine = sin(x);                                                                                    \
    *cosine = cos(x);                                                                                  \
  }                                                                                                    \
  XRAY_DEVICE void sincospi##suffix(type x, type* sine, type* cosine) {                                \
    *sine = sinpi(x);                                                                                  \
    *cosine = cospi(x);                                                                                \
  }
XRAY_PARTS(float, f)
XRAY_PARTS(double, )
#undef XRAY_PARTS
XRAY_DEVICE float ldexp(float x, int n) { return ldexpf(x, n); }
XRAY_DEVICE float frexp(float x, int* n) { return frexpf(x, n); }
XRAY_DEVICE float modf(float x, float* whole) { return modff(x, whole); }
XRAY_DEVICE long lrint(float x) { return lrintf(x); }
XRAY_DEVICE long lround(float x) { return lroundf(x); }
XRAY_DEVICE float nanf(const char*) { return __builtin_nanf(""); }
XRAY_DEVICE double nan(const char*) { return __builtin_nan(""); }

// Numbers of two types are compared in their common type; NaN is ignored if the other argument is a number.
#define XRAY_CHOICE(name, op)                                                                        \
  template <class A, class B>                                                                        \
    requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)                                     \
  __host__ __device__ constexpr std::common_type_t<A, B> name(A a, B b) {                            \
    using T = std::common_type_t<A, B>;                                                              \
    if constexpr (std::is_same_v<T, float>) return __builtin_f##name##f(a, b);                       \
    else if constexpr (std::is_same_v<T, double>) return __builtin_f##name(a, b);                    \
    else return static_cast<T>(a) op static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);      \
  }
XRAY_CHOICE(max, >)
XRAY_CHOICE(min, <)
#undef XRAY_CHOICE

#include <xray/fast_math.h>
#include <xray/std_math.h>

#undef XRAY_DEVICE
