// Approximations of ROCm's device library with about the same cost and low accuracy, good enough to compile and to
// analyze a kernel. Reports that are based on them must say that their figures are less exact.
#pragma once

#define XRAY_APPROXIMATION(name, expression)                                                            \
  __device__ inline float __ocml_##name##_f32(float x) { return expression; }                      \
  __device__ inline double __ocml_##name##_f64(double x) { return __ocml_##name##_f32(static_cast<float>(x)); }
#define XRAY_APPROXIMATION_2(name, expression)                                                          \
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

XRAY_APPROXIMATION(exp, __builtin_expf(x))
XRAY_APPROXIMATION(exp2, __builtin_exp2f(x))
XRAY_APPROXIMATION(exp10, __builtin_exp2f(x * 3.3219281f))
XRAY_APPROXIMATION(log, __builtin_logf(x))
XRAY_APPROXIMATION(log2, __builtin_log2f(x))
XRAY_APPROXIMATION(log10, __builtin_log10f(x))
XRAY_APPROXIMATION(expm1, __builtin_expf(x) - 1)
XRAY_APPROXIMATION(log1p, __builtin_logf(1 + x))
XRAY_APPROXIMATION(logb, __builtin_floorf(__builtin_log2f(__builtin_fabsf(x))))
XRAY_APPROXIMATION(rsqrt, __builtin_amdgcn_rsqf(x))
XRAY_APPROXIMATION(cbrt, __builtin_copysignf(__builtin_exp2f(__builtin_log2f(__builtin_fabsf(x)) / 3), x))
XRAY_APPROXIMATION(rcbrt, 1 / __ocml_cbrt_f32(x))
XRAY_APPROXIMATION(sin, __builtin_sinf(x))
XRAY_APPROXIMATION(cos, __builtin_cosf(x))
XRAY_APPROXIMATION(tan, __builtin_sinf(x) / __builtin_cosf(x))
XRAY_APPROXIMATION(sinpi, __builtin_sinf(x * xray::kPi))
XRAY_APPROXIMATION(cospi, __builtin_cosf(x * xray::kPi))
XRAY_APPROXIMATION(atan, xray::polynomial_atan(x))
XRAY_APPROXIMATION(asin, xray::polynomial_atan(x / __builtin_sqrtf(1 - x * x)))
XRAY_APPROXIMATION(acos, xray::kPi / 2 - __ocml_asin_f32(x))
XRAY_APPROXIMATION(sinh, (__builtin_expf(x) - __builtin_expf(-x)) / 2)
XRAY_APPROXIMATION(cosh, (__builtin_expf(x) + __builtin_expf(-x)) / 2)
XRAY_APPROXIMATION(tanh, 1 - 2 / (__builtin_expf(2 * x) + 1))
XRAY_APPROXIMATION(asinh, __builtin_logf(x + __builtin_sqrtf(x * x + 1)))
XRAY_APPROXIMATION(acosh, __builtin_logf(x + __builtin_sqrtf(x * x - 1)))
XRAY_APPROXIMATION(atanh, __builtin_logf((1 + x) / (1 - x)) / 2)
XRAY_APPROXIMATION(erf, __builtin_copysignf(1 - xray::upper_tail(__builtin_fabsf(x)), x))
XRAY_APPROXIMATION(erfc, x < 0 ? 2 - xray::upper_tail(-x) : xray::upper_tail(x))
XRAY_APPROXIMATION(erfcx, __builtin_expf(x * x) * __ocml_erfc_f32(x))
XRAY_APPROXIMATION(erfinv, xray::inverse_erf(x))
XRAY_APPROXIMATION(erfcinv, xray::inverse_erf(1 - x))
XRAY_APPROXIMATION(ncdf, __ocml_erfc_f32(x * -0.70710678f) / 2)
XRAY_APPROXIMATION(ncdfinv, 1.41421356f * xray::inverse_erf(2 * x - 1))
XRAY_APPROXIMATION(lgamma, xray::log_gamma(x))
XRAY_APPROXIMATION(tgamma, __builtin_expf(xray::log_gamma(x)))
// The asymptotic forms of the Bessel functions
XRAY_APPROXIMATION(i0, __builtin_expf(x) * __builtin_amdgcn_rsqf(2 * xray::kPi * x))
XRAY_APPROXIMATION(i1, __builtin_expf(x) * __builtin_amdgcn_rsqf(2 * xray::kPi * x) * (1 - 0.375f / x))
XRAY_APPROXIMATION(j0, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_cosf(x - xray::kPi / 4))
XRAY_APPROXIMATION(j1, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_sinf(x - xray::kPi / 4))
XRAY_APPROXIMATION(y0, __builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_sinf(x - xray::kPi / 4))
XRAY_APPROXIMATION(y1, -__builtin_sqrtf(2 / (xray::kPi * x)) * __builtin_cosf(x - xray::kPi / 4))

XRAY_APPROXIMATION_2(pow, __builtin_exp2f(y * __builtin_log2f(__builtin_fabsf(x))))
XRAY_APPROXIMATION_2(hypot, __builtin_sqrtf(x * x + y * y))
XRAY_APPROXIMATION_2(rhypot, 1 / __builtin_sqrtf(x * x + y * y))
XRAY_APPROXIMATION_2(fdim, x > y ? x - y : 0)
XRAY_APPROXIMATION_2(fmod, x - y * __builtin_truncf(x / y))
XRAY_APPROXIMATION_2(remainder, x - y * __builtin_rintf(x / y))
XRAY_APPROXIMATION_2(atan2, xray::polynomial_atan(x / y) + (y < 0 ? __builtin_copysignf(xray::kPi, x) : 0))
XRAY_APPROXIMATION_2(nextafter, __builtin_bit_cast(float, __builtin_bit_cast(int, x) + (x < y ? 1 : -1)))

__device__ inline float __ocml_pown_f32(float x, int n) { return __ocml_pow_f32(x, static_cast<float>(n)); }
__device__ inline double __ocml_pown_f64(double x, int n) { return __ocml_pow_f32(static_cast<float>(x), static_cast<float>(n)); }

#undef XRAY_APPROXIMATION
#undef XRAY_APPROXIMATION_2
