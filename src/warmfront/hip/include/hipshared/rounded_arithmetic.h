// Arithmetic whose names state the rounding: to the nearest.
//
// The target provides hiptarget::rounded(x), which keeps the compiler from fusing a product with a sum that
// follows it.
#pragma once

__device__ static inline float __fadd_rn(float x, float y) { return hiptarget::rounded(x) + hiptarget::rounded(y); }
__device__ static inline float __fsub_rn(float x, float y) { return hiptarget::rounded(x) - hiptarget::rounded(y); }
__device__ static inline float __fmul_rn(float x, float y) { return hiptarget::rounded(x * y); }
__device__ static inline float __fdiv_rn(float x, float y) { return x / y; }
__device__ static inline float __fdividef(float x, float y) { return x / y; }
__device__ static inline float fdividef(float x, float y) { return x / y; }
__device__ static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ static inline float __frcp_rn(float x) { return 1 / x; }
__device__ static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__device__ static inline double __dadd_rn(double x, double y) {
  return hiptarget::rounded(x) + hiptarget::rounded(y);
}
__device__ static inline double __dsub_rn(double x, double y) {
  return hiptarget::rounded(x) - hiptarget::rounded(y);
}
__device__ static inline double __dmul_rn(double x, double y) { return hiptarget::rounded(x * y); }
__device__ static inline double __ddiv_rn(double x, double y) { return x / y; }
__device__ static inline double __drcp_rn(double x) { return 1 / x; }
__device__ static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
__device__ static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
