// Stand-ins for ROCm's device library, of about its cost and a few digits: enough to compile, and to tell what a
// kernel is made of. Whoever shows figures from here must say that they are less exact.
#pragma once

#define XRAY_STAND_IN(name, expression)                                                            \
  __device__ inline float __ocml_##name##_f32(float x) { return expression; }                      \
  __device__ inline double __ocml_##name##_f64(double x) { return __ocml_##name##_f32(static_cast<float>(x)); }
#define XRAY_STAND_IN_2(name, expression)                                                          \
  __device__ inline float __ocml_##name##_f32(float x, float y) { return expression; }             \
  __device__ inline double __ocml_##name##_f64(double x, double y) {                               \
    return __ocml_##name##_f32(static_cast<float>(x), static_cast<float>(y));                      \
  }

namespace xray {

inline constexpr float kPi = 3.14159265f;

__device__ inline float polynomial_atan(float x) {
  const float a = __builtin_fabsf(x);
  const bool beyond = a > 1;
  const float t = beyond ? 1 / a : a, s = t * t;
  const float r = t * (0.9998660f + s * (-0.3302995f + s * (0.1801410f + s * (-0.0851330f + s * 0.0208351f))));
  return __builtin_copysignf(beyond ? kPi / 2 - r : r, x);
}
// Abramowitz and Stegun, 7.1.26
__device__ inline float upper_tail(float x) {
  const float t = 1 / (1 + 0.3275911f * x);
  const float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return p * __builtin_expf(-x * x);
}
// Winitzki
__device__ inline float inverse_erf(float x) {
  const float w = __builtin_logf(1 - x * x), b = 4.3307467f + w / 2;
  return __builtin_copysignf(__builtin_sqrtf(__builtin_sqrtf(b * b - w * 6.8027211f) - b), x);
}
// Stirling
__device__ inline float log_gamma(float x) {
  return (x - 0.5f) * __builtin_logf(x) - x + 0.9189385f + 1 / (12 * x);
}

}  // namespace xray

XRAY_STAND_IN(exp, __builtin_expf(x))
XRAY_STAND_IN(exp2, __builtin_exp2f(x))
XRAY_STAND_IN(exp10, __builtin_exp2f(x * 3.3219281f))
XRAY_STAND_IN(log, __builtin_logf(x))
XRAY_STAND_IN(log2, __builtin_log2f(x))
XRAY_STAND_IN(log10, __builtin_log10f(x))
XRAY_STAND_IN(expm1, __builtin_expf(x) - 1)
XRAY_STAND_IN(log1p, __builtin_logf(1 + x))
XRAY_STAND_IN(logb, __builtin_floorf(__builtin_log2f(__builtin_fabsf(x))))
XRAY_STAND_IN(rsqrt, __builtin_amdgcn_rsqf(x))
XRAY_STAND_IN(cbrt, __builtin_copysignf(__builtin_exp2f(__builtin_log2f(__builtin_fabsf(x)) / 3), x))
XRAY_STAND_IN(rcbrt, 1 / __ocml_cbrt_f32(x))
XRAY_STAND_IN(sin, __builtin_sinf(x))
XRAY_STAND_IN(cos, __builtin_cosf(x))
XRAY_STAND_IN(tan, __builtin_sinf(x) / __builtin_cosf(x))
XRAY_STAND_IN(sinpi, __builtin_sinf(x * xray::kPi))
XRAY_STAND_IN(cospi, __builtin_cosf(x * xray::kPi))
XRAY_STAND_IN(atan, xray::polynomial_atan(x))
XRAY_STAND_IN(asin, xray::polynomial_atan(x / __builtin_sqrtf(1 - x * x)))
XRAY_STAND_IN(acos, xray::kPi / 2 - __ocml_asin_f32(x))
XRAY_STAND_IN(sinh, (__builtin_expf(x) - __builtin_expf(-x)) / 2)
XRAY_STAND_IN(cosh, (__builtin_expf(x) + __builtin_expf(-x)) / 2)
XRAY_STAND_IN(tanh, 1 - 2 / (__builtin_expf(2 * x) + 1))
XRAY_STAND_IN(asinh, __builtin_logf(x + __builtin_sqrtf(x * x + 1)))
XRAY_STAND_IN(acosh, __builtin_logf(x + __builtin_sqrtf(x * x - 1)))
XRAY_STAND_IN(atanh, __builtin_logf((1 + x) / (1 - x)) / 2)
XRAY_STAND_IN(erf, __builtin_copysignf(1 - xray::upper_tail(__builtin_fabsf(x)), x))
XRAY_STAND_IN(erfc, x < 0 ? 2 - xray::upper_tail(-x) : xray::upper_tail(x))
XRAY_STAND_IN(erfcx, __builtin_expf(x * x) * __ocml_erfc_f32(x))
XRAY_STAND_IN(erfinv, xray::inverse_erf(x))
XRAY_STAND_IN(erfcinv, xray::inverse_erf(1 - x))
XRAY_STAND_IN(ncdf, __ocml_erfc_f32(x * -0.70710678f) / 2)
XRAY_STAND_IN(ncdfinv, 1.41421356f * xray::inverse_erf(2 * x - 1))
XRAY_STAND_IN(lgamma, xray::log_gamma(x))
XRAY_STAND_IN(tgamma, __builtin_expf(xray::log_gamma(x)))
// The asymptotic forms of the Bessel functions
XRAY_STAND_IN(i0, __builtin_expf(x) * __builtin_amdgcn_rsqf(2 * xray::kPi * x))
XRAY_STAND_IN(i1, __builtin_expf(x) * __builtin_amdgcn_rsqf(2 * xray::kPi * x) * (1 - 0.375f / x))
XRAY_STAND_IN(j0, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_cosf(x - xray::kPi / 4))
XRAY_STAND_IN(j1, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_sinf(x - xray::kPi / 4))
XRAY_STAND_IN(y0, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_sinf(x - xray::kPi / 4))
XRAY_STAND_IN(y1, -__builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_cosf(x - xray::kPi / 4))

XRAY_STAND_IN_2(pow, __builtin_exp2f(y * __builtin_log2f(__builtin_fabsf(x))))
XRAY_STAND_IN_2(hypot, __builtin_sqrtf(x * x + y * y))
XRAY_STAND_IN_2(rhypot, 1 / __builtin_sqrtf(x * x + y * y))
XRAY_STAND_IN_2(fdim, x > y ? x - y : 0)
XRAY_STAND_IN_2(fmod, x - y * __builtin_truncf(x / y))
XRAY_STAND_IN_2(remainder, x - y * __builtin_rintf(x / y))
XRAY_STAND_IN_2(atan2, xray::polynomial_atan(x / y) + (y < 0 ? __builtin_copysignf(xray::kPi, x) : 0))
XRAY_STAND_IN_2(nextafter, __builtin_bit_cast(float, __builtin_bit_cast(int, x) + (x < y ? 1 : -1)))

__device__ inline float __ocml_pown_f32(float x, int n) { return __ocml_pow_f32(x, static_cast<float>(n)); }
__device__ inline double __ocml_pown_f64(double x, int n) { return __ocml_pow_f32(static_cast<float>(x), static_cast<float>(n)); }

#undef XRAY_STAND_IN
#undef XRAY_STAND_IN_2
