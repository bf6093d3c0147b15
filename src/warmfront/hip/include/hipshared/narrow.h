// The functions of the 16-bit floating-point types, __half and __hip_bfloat16, and of pairs of them.
//
// The target's hiptarget/narrow.h derives Narrow<H> and NarrowPair<P, H> from these and adds what it computes in
// its own way: + - * /, negation, comparisons, fma, abs, max, min, rsqrt, and rounding to an integer. Everything
// is a friend, found by its arguments, so that the two types share names without conflict.
#pragma once

HIPTARGET_HOST_DEVICE_BEGIN

namespace hipshared {

// The common part of one number of type H on every target.
template <class H>
struct NarrowFunctions {
  friend H operator+(H a) { return a; }
  friend H& operator+=(H& a, H b) { return a = a + b; }
  friend H& operator-=(H& a, H b) { return a = a - b; }
  friend H& operator*=(H& a, H b) { return a = a * b; }
  friend H& operator/=(H& a, H b) { return a = a / b; }
  friend H& operator++(H& a) { return a = a + H(1.0f); }
  friend H& operator--(H& a) { return a = a - H(1.0f); }
  friend H operator++(H& a, int) {
    const H before = a;
    ++a;
    return before;
  }
  friend H operator--(H& a, int) {
    const H before = a;
    --a;
    return before;
  }

  friend H __hadd(H a, H b) { return a + b; }
  friend H __hsub(H a, H b) { return a - b; }
  friend H __hmul(H a, H b) { return a * b; }
  friend H __hdiv(H a, H b) { return a / b; }
  friend H __hadd_rn(H a, H b) HIPTARGET_NEEDS_ROCM_7 { return a + b; }
  friend H __hsub_rn(H a, H b) HIPTARGET_NEEDS_ROCM_7 { return a - b; }
  friend H __hmul_rn(H a, H b) HIPTARGET_NEEDS_ROCM_7 { return a * b; }
  friend H __hneg(H a) { return -a; }

  friend bool __heq(H a, H b) { return a == b; }
  friend bool __hne(H a, H b) { return a < b || a > b; }
  friend bool __hlt(H a, H b) { return a < b; }
  friend bool __hle(H a, H b) { return a <= b; }
  friend bool __hgt(H a, H b) { return a > b; }
  friend bool __hge(H a, H b) { return a >= b; }
  friend bool __hequ(H a, H b) { return !__hne(a, b); }
  friend bool __hneu(H a, H b) { return a != b; }
  friend bool __hltu(H a, H b) { return !(a >= b); }
  friend bool __hleu(H a, H b) { return !(a > b); }
  friend bool __hgtu(H a, H b) { return !(a <= b); }
  friend bool __hgeu(H a, H b) { return !(a < b); }
  friend bool __hisnan(H a) { return a != a; }
  friend int __hisinf(H a) { return float(a) == HUGE_VALF ? 1 : float(a) == -HUGE_VALF ? -1 : 0; }

  // On the device only
  HIPTARGET_HOST_DEVICE_END
  friend __device__ H hcos(H a) { return H(::cosf(float(a))); }
  friend __device__ H hexp(H a) { return H(::expf(float(a))); }
  friend __device__ H hexp2(H a) { return H(::exp2f(float(a))); }
  friend __device__ H hexp10(H a) { return H(::exp10f(float(a))); }
  friend __device__ H hlog(H a) { return H(::logf(float(a))); }
  friend __device__ H hlog2(H a) { return H(::log2f(float(a))); }
  friend __device__ H hlog10(H a) { return H(::log10f(float(a))); }
  friend __device__ H hrcp(H a) { return H(1 / float(a)); }
  friend __device__ H hsin(H a) { return H(::sinf(float(a))); }
  friend __device__ H hsqrt(H a) { return H(::sqrtf(float(a))); }
  HIPTARGET_HOST_DEVICE_BEGIN

  friend H max(H a, H b) { return __hmax(a, b); }
  friend H min(H a, H b) { return __hmin(a, b); }
};

// Functions that only __half has.
template <class H>
struct HalfFunctions {
  friend H __hadd_sat(H a, H b) { return clamp(a + b); }
  friend H __hsub_sat(H a, H b) { return clamp(a - b); }
  friend H __hmul_sat(H a, H b) { return clamp(a * b); }
  HIPTARGET_HOST_DEVICE_END
  friend __device__ H __hfma_sat(H a, H b, H c) { return clamp(__hfma(a, b, c)); }
  HIPTARGET_HOST_DEVICE_BEGIN
  friend H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
  friend H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }

  // Ambiguous in HIP, where a half also converts to _Float16: write hexp(x), or expf(x).
#define HIPSHARED_AMBIGUOUS_1(name) friend void name(H) = delete;
#define HIPSHARED_AMBIGUOUS_2(name) friend void name(H, H) = delete;
  HIPSHARED_AMBIGUOUS_1(acos) HIPSHARED_AMBIGUOUS_1(acosh) HIPSHARED_AMBIGUOUS_1(asin)
  HIPSHARED_AMBIGUOUS_1(asinh) HIPSHARED_AMBIGUOUS_1(atan) HIPSHARED_AMBIGUOUS_1(atanh)
  HIPSHARED_AMBIGUOUS_1(cbrt) HIPSHARED_AMBIGUOUS_1(ceil) HIPSHARED_AMBIGUOUS_1(cos) HIPSHARED_AMBIGUOUS_1(cosh)
  HIPSHARED_AMBIGUOUS_1(erf) HIPSHARED_AMBIGUOUS_1(erfc) HIPSHARED_AMBIGUOUS_1(exp) HIPSHARED_AMBIGUOUS_1(exp2)
  HIPSHARED_AMBIGUOUS_1(expm1) HIPSHARED_AMBIGUOUS_1(fabs) HIPSHARED_AMBIGUOUS_1(floor)
  HIPSHARED_AMBIGUOUS_1(lgamma) HIPSHARED_AMBIGUOUS_1(log) HIPSHARED_AMBIGUOUS_1(log10)
  HIPSHARED_AMBIGUOUS_1(log1p) HIPSHARED_AMBIGUOUS_1(log2) HIPSHARED_AMBIGUOUS_1(logb)
  HIPSHARED_AMBIGUOUS_1(lrint) HIPSHARED_AMBIGUOUS_1(lround) HIPSHARED_AMBIGUOUS_1(llrint)
  HIPSHARED_AMBIGUOUS_1(llround) HIPSHARED_AMBIGUOUS_1(nearbyint) HIPSHARED_AMBIGUOUS_1(rint)
  HIPSHARED_AMBIGUOUS_1(round) HIPSHARED_AMBIGUOUS_1(sin) HIPSHARED_AMBIGUOUS_1(sinh)
  HIPSHARED_AMBIGUOUS_1(sqrt) HIPSHARED_AMBIGUOUS_1(tan) HIPSHARED_AMBIGUOUS_1(tanh)
  HIPSHARED_AMBIGUOUS_1(tgamma) HIPSHARED_AMBIGUOUS_1(trunc) HIPSHARED_AMBIGUOUS_1(abs)
  HIPSHARED_AMBIGUOUS_1(isnan) HIPSHARED_AMBIGUOUS_1(isinf) HIPSHARED_AMBIGUOUS_1(isfinite)
  HIPSHARED_AMBIGUOUS_1(signbit)
  HIPSHARED_AMBIGUOUS_2(atan2) HIPSHARED_AMBIGUOUS_2(copysign) HIPSHARED_AMBIGUOUS_2(fdim)
  HIPSHARED_AMBIGUOUS_2(fmax) HIPSHARED_AMBIGUOUS_2(fmin) HIPSHARED_AMBIGUOUS_2(fmod)
  HIPSHARED_AMBIGUOUS_2(hypot) HIPSHARED_AMBIGUOUS_2(pow) HIPSHARED_AMBIGUOUS_2(remainder)
  friend void fma(H, H, H) = delete;
#undef HIPSHARED_AMBIGUOUS_1
#undef HIPSHARED_AMBIGUOUS_2

 private:
  static H clamp(H a) { return __hmin(__hmax(a, H(0.0f)), H(1.0f)); }
};

// The common part of two numbers of type H in P, with components x and y, on every target.
template <class P, class H>
struct NarrowPairFunctions {
  friend P operator+(P a) { return a; }
  friend P& operator+=(P& a, P b) { return a = a + b; }
  friend P& operator-=(P& a, P b) { return a = a - b; }
  friend P& operator*=(P& a, P b) { return a = a * b; }
  friend P& operator/=(P& a, P b) { return a = a / b; }
  friend P& operator++(P& a) { return a = P(a.x + H(1.0f), a.y + H(1.0f)); }
  friend P& operator--(P& a) { return a = P(a.x - H(1.0f), a.y - H(1.0f)); }
  friend P operator++(P& a, int) {
    const P before = a;
    ++a;
    return before;
  }
  friend P operator--(P& a, int) {
    const P before = a;
    --a;
    return before;
  }
  friend bool operator==(P a, P b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(P a, P b) { return a.x != b.x && a.y != b.y; }
  friend bool operator<(P a, P b) { return a.x < b.x && a.y < b.y; }
  friend bool operator<=(P a, P b) { return a.x <= b.x && a.y <= b.y; }
  friend bool operator>(P a, P b) { return a.x > b.x && a.y > b.y; }
  friend bool operator>=(P a, P b) { return a.x >= b.x && a.y >= b.y; }

  friend P __hadd2(P a, P b) { return a + b; }
  friend P __hsub2(P a, P b) { return a - b; }
  friend P __hmul2(P a, P b) { return a * b; }
  friend P __h2div(P a, P b) { return a / b; }
  friend P __hadd2_rn(P a, P b) HIPTARGET_NEEDS_ROCM_7 { return a + b; }
  friend P __hsub2_rn(P a, P b) HIPTARGET_NEEDS_ROCM_7 { return a - b; }
  friend P __hmul2_rn(P a, P b) HIPTARGET_NEEDS_ROCM_7 { return a * b; }
  friend P __hneg2(P a) { return -a; }

  // Comparisons return 1 or 0 in each component; those with a b in their names return whether both hold.
#define HIPSHARED_COMPARE(op) \
  friend P __h##op##2(P a, P b) { return {truth(__h##op(a.x, b.x)), truth(__h##op(a.y, b.y))}; } \
  friend bool __hb##op##2(P a, P b) { return __h##op(a.x, b.x) && __h##op(a.y, b.y); }
  HIPSHARED_COMPARE(eq)
  HIPSHARED_COMPARE(ne)
  HIPSHARED_COMPARE(lt)
  HIPSHARED_COMPARE(le)
  HIPSHARED_COMPARE(gt)
  HIPSHARED_COMPARE(ge)
#undef HIPSHARED_COMPARE
#define HIPSHARED_COMPARE_BOTH(op) \
  friend bool __hb##op##2(P a, P b) { return __h##op(a.x, b.x) && __h##op(a.y, b.y); }
  HIPSHARED_COMPARE_BOTH(equ)
  HIPSHARED_COMPARE_BOTH(neu)
  HIPSHARED_COMPARE_BOTH(ltu)
  HIPSHARED_COMPARE_BOTH(leu)
  HIPSHARED_COMPARE_BOTH(gtu)
  HIPSHARED_COMPARE_BOTH(geu)
#undef HIPSHARED_COMPARE_BOTH
  friend P __hisnan2(P a) { return {truth(__hisnan(a.x)), truth(__hisnan(a.y))}; }

  HIPTARGET_HOST_DEVICE_END
#define HIPSHARED_MAP(name) \
  friend __device__ P h2##name(P a) { return {h##name(a.x), h##name(a.y)}; }
  HIPSHARED_MAP(ceil)
  HIPSHARED_MAP(cos)
  HIPSHARED_MAP(exp)
  HIPSHARED_MAP(exp2)
  HIPSHARED_MAP(exp10)
  HIPSHARED_MAP(floor)
  HIPSHARED_MAP(log)
  HIPSHARED_MAP(log2)
  HIPSHARED_MAP(log10)
  HIPSHARED_MAP(rcp)
  HIPSHARED_MAP(rint)
  HIPSHARED_MAP(rsqrt)
  HIPSHARED_MAP(sin)
  HIPSHARED_MAP(sqrt)
  HIPSHARED_MAP(trunc)
#undef HIPSHARED_MAP
  HIPTARGET_HOST_DEVICE_BEGIN

  friend float __low2float(P a) { return float(a.x); }
  friend float __high2float(P a) { return float(a.y); }
  friend P __lowhigh2highlow(P a) { return {a.y, a.x}; }

 private:
  static H truth(bool holds) { return H(holds ? 1.0f : 0.0f); }
};

// Functions that only __half2 has.
template <class P, class H>
struct HalfPairFunctions {
  friend P __hadd2_sat(P a, P b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }
  friend P __hsub2_sat(P a, P b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }
  friend P __hmul2_sat(P a, P b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }
  HIPTARGET_HOST_DEVICE_END
  friend __device__ P __hfma2_sat(P a, P b, P c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
  HIPTARGET_HOST_DEVICE_BEGIN

  // Comparisons that hold if a number is NaN.
#define HIPSHARED_COMPARE(op) \
  friend P __h##op##2(P a, P b) { return {H(__h##op(a.x, b.x) ? 1.0f : 0.0f), H(__h##op(a.y, b.y) ? 1.0f : 0.0f)}; }
  HIPSHARED_COMPARE(equ)
  HIPSHARED_COMPARE(neu)
  HIPSHARED_COMPARE(ltu)
  HIPSHARED_COMPARE(leu)
  HIPSHARED_COMPARE(gtu)
  HIPSHARED_COMPARE(geu)
#undef HIPSHARED_COMPARE
};

// Rounding in a named direction, for a type whose bits count upwards with its magnitude.
template <class H>
inline H step_narrow(H h, int by) {
  return __builtin_bit_cast(H, static_cast<unsigned short>(__builtin_bit_cast(unsigned short, h) + by));
}
template <class H>
inline H narrow_rd(float x) {
  const H nearest(x);
  return float(nearest) > x ? step_narrow(nearest, x > 0 ? -1 : 1) : nearest;
}
template <class H>
inline H narrow_ru(float x) {
  const H nearest(x);
  return float(nearest) < x ? step_narrow(nearest, x > 0 ? 1 : -1) : nearest;
}
template <class H>
inline H narrow_rz(float x) {
  return x < 0 ? narrow_ru<H>(x) : narrow_rd<H>(x);
}

}  // namespace hipshared

HIPTARGET_HOST_DEVICE_END
