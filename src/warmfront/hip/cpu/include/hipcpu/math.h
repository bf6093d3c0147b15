// Mathematical functions of the device: those that the C library lacks, the fast forms, and the intrinsics.
//
// Results can differ from a GPU in the last bits. The fast forms (__expf) are as accurate as the others.
#pragma once

#include <math.h>  // not only cmath: kernels call exp, abs and isnan without std::
#include <stdlib.h>
#include <time.h>

#include <algorithm>  // authors rely on std::max and std::sort
#include <limits>
#include <type_traits>

#include <hipcpu/bits.h>

namespace hipcpu {

// long double holds every 64-bit integer and every double, on x86-64 and on aarch64.
using Widest = long double;

// Converts as a GPU does: to the nearest number in range, and NaN to 0. A plain conversion would be undefined.
template <class To, class From>
inline auto to_integer(From x) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kBeyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  if (x != x) return To(0);
  if (x <= kLow) return std::numeric_limits<To>::min();
  if (x >= kBeyond) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

// A rounded value: the compiler does not fuse the product that it may come from with a sum that follows.
template <class T>
inline __attribute__((always_inline)) auto rounded(T x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using Half = __fp16;  // this compiler has no _Float16 in C++
#else
using Half = _Float16;
#endif

}  // namespace hipcpu

#include <hipshared/cache_hints.h>
#include <hipshared/conversions.h>
#include <hipshared/rounded_arithmetic.h>

// The C library declares these names too. A gnu_inline body never becomes a symbol and only replaces the call. This
// provides the fast forms, and makes fminf and fmaxf one instruction instead of a call.
#define HIPCPU_INSTEAD extern "C" inline __attribute__((always_inline, gnu_inline))
HIPCPU_INSTEAD float __expf(float x) noexcept { return ::expf(x); }
HIPCPU_INSTEAD float __exp10f(float x) noexcept { return ::exp10f(x); }
HIPCPU_INSTEAD float __logf(float x) noexcept { return ::logf(x); }
HIPCPU_INSTEAD float __log2f(float x) noexcept { return ::log2f(x); }
HIPCPU_INSTEAD float __log10f(float x) noexcept { return ::log10f(x); }
HIPCPU_INSTEAD float __powf(float x, float y) noexcept { return ::powf(x, y); }
HIPCPU_INSTEAD float __sinf(float x) noexcept { return ::sinf(x); }
HIPCPU_INSTEAD float __cosf(float x) noexcept { return ::cosf(x); }
HIPCPU_INSTEAD float __tanf(float x) noexcept { return ::tanf(x); }
HIPCPU_INSTEAD void __sincosf(float x, float* s, float* c) noexcept { ::sincosf(x, s, c); }
HIPCPU_INSTEAD float fmaxf(float x, float y) noexcept { return x > y || y != y ? x : y; }
HIPCPU_INSTEAD float fminf(float x, float y) noexcept { return x < y || y != y ? x : y; }
HIPCPU_INSTEAD double fmax(double x, double y) noexcept { return x > y || y != y ? x : y; }
HIPCPU_INSTEAD double fmin(double x, double y) noexcept { return x < y || y != y ? x : y; }

// Minimum and maximum

// Numbers of two types are compared in their common type; NaN is ignored if the other argument is a number.
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
constexpr std::common_type_t<A, B> max(A a, B b) {
  const std::common_type_t<A, B> x = a, y = b;
  return x > y || y != y ? x : y;
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
constexpr std::common_type_t<A, B> min(A a, B b) {
  const std::common_type_t<A, B> x = a, y = b;
  return x < y || y != y ? x : y;
}

// Functions that the C library does not have

namespace hipcpu {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
inline constexpr double kSqrtHalf = 0.70710678118654752440;

// The argument is reduced to [-1, 1] first, where the product with pi is accurate enough.
inline double sin_pi(double x) {
  const double r = ::remainder(x, 2.0);
  if (r == ::trunc(r)) return ::copysign(0.0, x);
  return ::sin(kPi * r);
}
inline double cos_pi(double x) {
  const double r = ::fabs(::remainder(x, 2.0));
  return r == 0.5 ? 0.0 : ::cos(kPi * r);
}

// Winitzki's approximation, refined by Newton's method.
inline double erf_inverse(double y) {
  constexpr double kA = 0.147;
  if (!(::fabs(y) < 1)) return ::fabs(y) == 1 ? y * HUGE_VAL : NAN;
  const double w = -::log1p(-y * y);
  const double b = 2 / (kPi * kA) - w / 2;
  double x = ::copysign(::sqrt(::sqrt(b * b + w / kA) - b), y);
  for (int i = 0; i < 3; ++i) {
    const double error =
        ::fabs(y) < 0.5 ? ::erf(x) - y : ::copysign(1.0, y) * (1 - ::fabs(y) - ::erfc(::fabs(x)));
    x -= error * ::exp(x * x) / kTwoOverSqrtPi;
  }
  return x;
}
// Newton's method on the logarithm, because erfc falls faster than any power.
inline double erfc_inverse(double y) {
  if (y >= 0.5) return erf_inverse(1 - y);
  if (!(y > 0)) return y == 0 ? HUGE_VAL : NAN;
  double x = ::sqrt(-::log(y * ::sqrt(kPi)));
  for (int i = 0; i < 8; ++i)
    x += ::log(::erfc(x) / y) * ::erfc(x) * ::exp(x * x) / kTwoOverSqrtPi;
  return x;
}
inline double erfc_scaled(double x) {
  if (x < 25) return ::exp(x * x) * ::erfc(x);
  const double square = x * x;  // an asymptotic series: exp(x * x) would overflow
  return (1 - 0.5 / square + 0.75 / (square * square)) / (x * ::sqrt(kPi));
}

}  // namespace hipcpu

extern "C" double hipcpu_cyl_bessel_i(double order, double x);

// A function for double, and one with the suffix f for float, computed in double and rounded once.
#define HIPCPU_FUNCTION_AS(kind, name, expression)                                                         \
  kind double name(double x) noexcept { return expression; }                                               \
  kind float name##f(float single) noexcept {                                                              \
    const double x = single;                                                                               \
    return static_cast<float>(expression);                                                                 \
  }                                                                                                        \
  static inline float name(float x) { return name##f(x); }
#define HIPCPU_FUNCTION(name, expression) HIPCPU_FUNCTION_AS(static inline, name, expression)
HIPCPU_FUNCTION(rcbrt, 1 / ::cbrt(x))
HIPCPU_FUNCTION(erfinv, hipcpu::erf_inverse(x))
HIPCPU_FUNCTION(erfcinv, hipcpu::erfc_inverse(x))
HIPCPU_FUNCTION(erfcx, hipcpu::erfc_scaled(x))
HIPCPU_FUNCTION(normcdf, 0.5 * ::erfc(-x * hipcpu::kSqrtHalf))
HIPCPU_FUNCTION(normcdfinv, -::sqrt(2.0) * hipcpu::erfc_inverse(2 * x))
HIPCPU_FUNCTION(cyl_bessel_i0, hipcpu_cyl_bessel_i(0.0, ::fabs(x)))
HIPCPU_FUNCTION(cyl_bessel_i1, ::copysign(hipcpu_cyl_bessel_i(1.0, ::fabs(x)), x))
// glibc 2.41 and later have these.
HIPCPU_FUNCTION_AS(HIPCPU_INSTEAD, sinpi, hipcpu::sin_pi(x))
HIPCPU_FUNCTION_AS(HIPCPU_INSTEAD, cospi, hipcpu::cos_pi(x))
#undef HIPCPU_FUNCTION
#undef HIPCPU_FUNCTION_AS

// Not computed in double, because these are used in inner loops. glibc 2.42 and later have them.
HIPCPU_INSTEAD double rsqrt(double x) noexcept { return 1 / ::sqrt(x); }
HIPCPU_INSTEAD float rsqrtf(float x) noexcept { return 1 / ::sqrtf(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
#undef HIPCPU_INSTEAD

static inline void sincospi(double x, double* sine, double* cosine) {
  *sine = hipcpu::sin_pi(x);
  *cosine = hipcpu::cos_pi(x);
}
static inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
static inline float exp10(float x) { return ::exp10f(x); }

// Lengths of vectors; computed in double, a float does not overflow.
static inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
static inline double norm4d(double x, double y, double z, double w) { return ::hypot(norm3d(x, y, z), w); }
static inline double rhypot(double x, double y) { return 1 / ::hypot(x, y); }
static inline double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
static inline double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
static inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
static inline float norm4df(float x, float y, float z, float w) { return static_cast<float>(norm4d(x, y, z, w)); }
static inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
static inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
static inline float rnorm4df(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(x, y, z, w)); }

static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// Clocks. They are monotonic, but do not have the rate of a GPU.

static inline long long clock64() {
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
// 100 MHz, as on a GPU.
static inline long long wall_clock64() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 100000000LL + now.tv_nsec / 10;
}
