// What __half and __hip_bfloat16 have in common: operators, comparisons and functions on one and on pairs.
//
// Arithmetic is the compiler's own on _Float16 and __bf16, one and two at a time, so that it becomes what the
// target has: packed instructions for halves, float for bfloat16. Everything is a friend, found by its
// arguments, so that the two types share names without getting in each other's way.
#pragma once

#include <hip/hip_runtime.h>

#pragma clang force_cuda_host_device begin

namespace xray {

// One number of type H, which holds a Native in `data`.
template <class H, class Native>
struct Narrow {
  friend H operator+(H a, H b) { return H(static_cast<Native>(a.data + b.data)); }
  friend H operator-(H a, H b) { return H(static_cast<Native>(a.data - b.data)); }
  friend H operator*(H a, H b) { return H(static_cast<Native>(a.data * b.data)); }
  friend H operator/(H a, H b) { return H(static_cast<Native>(a.data / b.data)); }
  friend H operator+(H a) { return a; }
  friend H operator-(H a) { return H(static_cast<Native>(-a.data)); }
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
  friend bool operator==(H a, H b) { return a.data == b.data; }
  friend bool operator!=(H a, H b) { return a.data != b.data; }
  friend bool operator<(H a, H b) { return a.data < b.data; }
  friend bool operator<=(H a, H b) { return a.data <= b.data; }
  friend bool operator>(H a, H b) { return a.data > b.data; }
  friend bool operator>=(H a, H b) { return a.data >= b.data; }

  friend H __hadd(H a, H b) { return a + b; }
  friend H __hsub(H a, H b) { return a - b; }
  friend H __hmul(H a, H b) { return a * b; }
  friend H __hdiv(H a, H b) { return a / b; }
  friend H __hadd_rn(H a, H b) { return a + b; }
  friend H __hsub_rn(H a, H b) { return a - b; }
  friend H __hmul_rn(H a, H b) { return a * b; }
  friend H __hfma(H a, H b, H c) { return H(__builtin_elementwise_fma(a.data, b.data, c.data)); }
  friend H __hadd_sat(H a, H b) { return clamp(a + b); }
  friend H __hsub_sat(H a, H b) { return clamp(a - b); }
  friend H __hmul_sat(H a, H b) { return clamp(a * b); }
  friend H __hfma_sat(H a, H b, H c) { return clamp(__hfma(a, b, c)); }
  friend H __hfma_relu(H a, H b, H c) { return __hmax(__hfma(a, b, c), H(0.0f)); }
  friend H __hneg(H a) { return -a; }
  friend H __habs(H a) { return H(__builtin_elementwise_abs(a.data)); }
  friend H __hmax(H a, H b) { return H(__builtin_elementwise_maxnum(a.data, b.data)); }
  friend H __hmin(H a, H b) { return H(__builtin_elementwise_minnum(a.data, b.data)); }
  friend H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
  friend H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }

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

  friend H hceil(H a) { return H(__builtin_elementwise_ceil(a.data)); }
  friend H hfloor(H a) { return H(__builtin_elementwise_floor(a.data)); }
  friend H hrint(H a) { return H(__builtin_elementwise_rint(a.data)); }
  friend H htrunc(H a) { return H(__builtin_elementwise_trunc(a.data)); }
  friend H hcos(H a) { return H(::cosf(float(a))); }
  friend H hexp(H a) { return H(::expf(float(a))); }
  friend H hexp2(H a) { return H(::exp2f(float(a))); }
  friend H hexp10(H a) { return H(::exp10f(float(a))); }
  friend H hlog(H a) { return H(::logf(float(a))); }
  friend H hlog2(H a) { return H(::log2f(float(a))); }
  friend H hlog10(H a) { return H(::log10f(float(a))); }
  friend H hrcp(H a) { return H(1 / float(a)); }
  friend H hrsqrt(H a) { return H(1 / ::sqrtf(float(a))); }
  friend H hsin(H a) { return H(::sinf(float(a))); }
  friend H hsqrt(H a) { return H(::sqrtf(float(a))); }
  friend H htanh(H a) { return H(::tanhf(float(a))); }

 private:
  static H clamp(H a) { return __hmin(__hmax(a, H(0.0f)), H(1.0f)); }
};

// Two numbers of type H in P, with components x and y, computed as one vector of two Natives.
template <class P, class H, class Native>
struct NarrowPair {
  using Two = Native __attribute__((ext_vector_type(2)));
  static Two in(P a) { return {a.x.data, a.y.data}; }
  static P out(Two a) { return {H(a.x), H(a.y)}; }

  friend P operator+(P a, P b) { return out(in(a) + in(b)); }
  friend P operator-(P a, P b) { return out(in(a) - in(b)); }
  friend P operator*(P a, P b) { return out(in(a) * in(b)); }
  friend P operator/(P a, P b) { return out(in(a) / in(b)); }
  friend P operator+(P a) { return a; }
  friend P operator-(P a) { return out(-in(a)); }
  friend P& operator+=(P& a, P b) { return a = a + b; }
  friend P& operator-=(P& a, P b) { return a = a - b; }
  friend P& operator*=(P& a, P b) { return a = a * b; }
  friend P& operator/=(P& a, P b) { return a = a / b; }
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
  friend P __hadd2_rn(P a, P b) { return a + b; }
  friend P __hsub2_rn(P a, P b) { return a - b; }
  friend P __hmul2_rn(P a, P b) { return a * b; }
  friend P __hfma2(P a, P b, P c) { return out(__builtin_elementwise_fma(in(a), in(b), in(c))); }
  friend P __hadd2_sat(P a, P b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }
  friend P __hsub2_sat(P a, P b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }
  friend P __hmul2_sat(P a, P b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }
  friend P __hfma2_sat(P a, P b, P c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
  friend P __hfma2_relu(P a, P b, P c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
  friend P __hneg2(P a) { return -a; }
  friend P __habs2(P a) { return out(__builtin_elementwise_abs(in(a))); }
  friend P __hmax2(P a, P b) { return out(__builtin_elementwise_maxnum(in(a), in(b))); }
  friend P __hmin2(P a, P b) { return out(__builtin_elementwise_minnum(in(a), in(b))); }

  // Comparisons give 1 or 0 in each component; with b, whether both hold.
#define XRAY_COMPARE(op)                                                                            \
  friend P __h##op##2(P a, P b) { return {truth(__h##op(a.x, b.x)), truth(__h##op(a.y, b.y))}; }    \
  friend bool __hb##op##2(P a, P b) { return __h##op(a.x, b.x) && __h##op(a.y, b.y); }
  XRAY_COMPARE(eq)
  XRAY_COMPARE(ne)
  XRAY_COMPARE(lt)
  XRAY_COMPARE(le)
  XRAY_COMPARE(gt)
  XRAY_COMPARE(ge)
  XRAY_COMPARE(equ)
  XRAY_COMPARE(neu)
  XRAY_COMPARE(ltu)
  XRAY_COMPARE(leu)
  XRAY_COMPARE(gtu)
  XRAY_COMPARE(geu)
#undef XRAY_COMPARE
  friend P __hisnan2(P a) { return {truth(__hisnan(a.x)), truth(__hisnan(a.y))}; }

#define XRAY_MAP(name) \
  friend P h2##name(P a) { return {h##name(a.x), h##name(a.y)}; }
  XRAY_MAP(ceil)
  XRAY_MAP(cos)
  XRAY_MAP(exp)
  XRAY_MAP(exp2)
  XRAY_MAP(exp10)
  XRAY_MAP(floor)
  XRAY_MAP(log)
  XRAY_MAP(log2)
  XRAY_MAP(log10)
  XRAY_MAP(rcp)
  XRAY_MAP(rint)
  XRAY_MAP(rsqrt)
  XRAY_MAP(sin)
  XRAY_MAP(sqrt)
  XRAY_MAP(tanh)
  XRAY_MAP(trunc)
#undef XRAY_MAP

  friend float __low2float(P a) { return float(a.x); }
  friend float __high2float(P a) { return float(a.y); }
  friend P __lowhigh2highlow(P a) { return {a.y, a.x}; }

 private:
  static H truth(bool holds) { return H(holds ? 1.0f : 0.0f); }
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

}  // namespace xray

#pragma clang force_cuda_host_device end
