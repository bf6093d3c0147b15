// The functions of ROCm's device library (ocml) that math.h uses: declared if the library is linked, and
// approximated if it is not.
#pragma once

#define XRAY_LIBRARY_1(X)                                                                                     \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(cos) X(cosh) X(cospi) X(erf) X(erfc)           \
  X(erfcinv) X(erfcx) X(erfinv) X(expm1) X(i0) X(i1) X(j0) X(j1) X(lgamma) X(log1p) X(logb) X(ncdf)           \
  X(ncdfinv) X(rcbrt) X(rsqrt) X(sin) X(sinh) X(sinpi) X(tan) X(tanh) X(tgamma) X(y0) X(y1)
#define XRAY_LIBRARY_2(X) X(atan2) X(fdim) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder) X(rhypot)

#ifndef XRAY_NO_LIBRARIES

#define XRAY_DECLARE_1(name)                                                        \
  __device__ __attribute__((const)) float __ocml_##name##_f32(float x);             \
  __device__ __attribute__((const)) double __ocml_##name##_f64(double x);
#define XRAY_DECLARE_2(name)                                                        \
  __device__ __attribute__((const)) float __ocml_##name##_f32(float x, float y);    \
  __device__ __attribute__((const)) double __ocml_##name##_f64(double x, double y);
extern "C" {
XRAY_LIBRARY_1(XRAY_DECLARE_1)
XRAY_LIBRARY_2(XRAY_DECLARE_2)
__device__ __attribute__((const)) double __ocml_exp_f64(double x);
__device__ __attribute__((const)) double __ocml_exp2_f64(double x);
__device__ __attribute__((const)) double __ocml_exp10_f64(double x);
__device__ __attribute__((const)) double __ocml_log_f64(double x);
__device__ __attribute__((const)) double __ocml_log2_f64(double x);
__device__ __attribute__((const)) double __ocml_log10_f64(double x);
__device__ __attribute__((const)) float __ocml_pown_f32(float x, int n);
__device__ __attribute__((const)) double __ocml_pown_f64(double x, int n);
}
#undef XRAY_DECLARE_1
#undef XRAY_DECLARE_2

#else
#include <xray/without_libraries.h>
#endif
