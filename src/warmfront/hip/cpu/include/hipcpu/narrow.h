// What __half and __hip_bfloat16 have in common: operators, comparisons and functions on one and on pairs.
//
// Everything is computed in float and rounded once: float has more than twice the digits of either type, so
// that rounding twice cannot be seen. They are friends, found by their arguments, so that the two types
// share names without getting in each other's way.
#pragma once

#include <hipcpu/atomics.h>
#include <hipcpu/math.h>

namespace hipcpu {

// A double whose last bit says that more digits follow, so that the next rounding is the only one that counts.
inline double fused(double a, double b, double c) {
  const double product = a * b;  // exact: neither factor has more than 11 digits
  const double sum = product + c;
  const double kept = sum - product;
  const double lost = (product - (sum - kept)) + (c - kept);
  auto bits = __builtin_bit_cast(unsigned long long, sum);
  if (lost != 0 && lost == lost && (bits & 1) == 0) bits += (lost > 0) == (sum > 0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}

inline float clamp01(float x) { return __saturatef(x); }

// One number of type H, which converts to float, and from float by rounding.
template <class H>
struct Narrow {
  friend H operator+(H a, H b) { return H(float(a) + float(b)); }
  friend H operator-(H a, H b) { return H(float(a) - float(b)); }
  friend H operator*(H a, H b) { return H(float(a) * float(b)); }
  friend H operator/(H a, H b) { return H(float(a) / float(b)); }
  friend H operator+(H a) { return a; }
  friend H operator-(H a) { return H(-float(a)); }
  friend H& operator+=(H& a, H b) { return a = a + b; }
  friend H& operator-=(H& a, H b) { return a = a - b; }
  friend H& operator*=(H& a, H b) { return a = a * b; }
  friend H& operator/=(H& a, H b) { return a = a / b; }
  friend H& operator++(H& a) { return a = H(float(a) + 1); }
  friend H& operator--(H& a) { return a = H(float(a) - 1); }
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
  friend bool operator==(H a, H b) { return float(a) == float(b); }
  friend bool operator!=(H a, H b) { return float(a) != float(b); }
  friend bool operator<(H a, H b) { return float(a) < float(b); }
  friend bool operator<=(H a, H b) { return float(a) <= float(b); }
  friend bool operator>(H a, H b) { return float(a) > float(b); }
  friend bool operator>=(H a, H b) { return float(a) >= float(b); }

  friend H __hadd(H a, H b) { return a + b; }
  friend H __hsub(H a, H b) { return a - b; }
  friend H __hmul(H a, H b) { return a * b; }
  friend H __hdiv(H a, H b) { return a / b; }
  friend H __hadd_rn(H a, H b) { return a + b; }
  friend H __hsub_rn(H a, H b) { return a - b; }
  friend H __hmul_rn(H a, H b) { return a * b; }
  friend H __hfma(H a, H b, H c) { return H(fused(float(a), float(b), float(c))); }
  friend H __hadd_sat(H a, H b) { return H(clamp01(float(a) + float(b))); }
  friend H __hsub_sat(H a, H b) { return H(clamp01(float(a) - float(b))); }
  friend H __hmul_sat(H a, H b) { return H(clamp01(float(a) * float(b))); }
  friend H __hfma_sat(H a, H b, H c) { return H(clamp01(float(__hfma(a, b, c)))); }
  friend H __hfma_relu(H a, H b, H c) { return __hmax(__hfma(a, b, c), H(0.0f)); }
  friend H __hneg(H a) { return -a; }
  friend H __habs(H a) { return H(::fabsf(float(a))); }
  friend H __hmax(H a, H b) { return H(::fmaxf(float(a), float(b))); }
  friend H __hmin(H a, H b) { return H(::fminf(float(a), float(b))); }
  friend H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
  friend H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }

  friend bool __heq(H a, H b) { return a == b; }
  friend bool __hne(H a, H b) { return float(a) < float(b) || float(a) > float(b); }
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

  friend H hceil(H a) { return H(::ceilf(float(a))); }
  friend H hcos(H a) { return H(::cosf(float(a))); }
  friend H hexp(H a) { return H(::expf(float(a))); }
  friend H hexp2(H a) { return H(::exp2f(float(a))); }
  friend H hexp10(H a) { return H(::exp10f(float(a))); }
  friend H hfloor(H a) { return H(::floorf(float(a))); }
  friend H hlog(H a) { return H(::logf(float(a))); }
  friend H hlog2(H a) { return H(::log2f(float(a))); }
  friend H hlog10(H a) { return H(::log10f(float(a))); }
  friend H hrcp(H a) { return H(1 / float(a)); }
  friend H hrint(H a) { return H(::rintf(float(a))); }
  friend H hrsqrt(H a) { return H(1 / ::sqrt(double(float(a)))); }
  friend H hsin(H a) { return H(::sinf(float(a))); }
  friend H hsqrt(H a) { return H(::sqrtf(float(a))); }
  friend H htanh(H a) { return H(::tanhf(float(a))); }
  friend H htrunc(H a) { return H(::truncf(float(a))); }
};

// Two numbers of type H in P, with components x and y.
template <class P, class H>
struct NarrowPair {
  friend P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }
  friend P operator-(P a, P b) { return {a.x - b.x, a.y - b.y}; }
  friend P operator*(P a, P b) { return {a.x * b.x, a.y * b.y}; }
  friend P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }
  friend P operator+(P a) { return a; }
  friend P operator-(P a) { return {-a.x, -a.y}; }
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
  friend P __hfma2(P a, P b, P c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
  friend P __hadd2_sat(P a, P b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }
  friend P __hsub2_sat(P a, P b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }
  friend P __hmul2_sat(P a, P b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }
  friend P __hfma2_sat(P a, P b, P c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
  friend P __hfma2_relu(P a, P b, P c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
  friend P __hneg2(P a) { return -a; }
  friend P __habs2(P a) { return {__habs(a.x), __habs(a.y)}; }
  friend P __hmax2(P a, P b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
  friend P __hmin2(P a, P b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

  // Comparisons give 1 or 0 in each component; with b, whether both hold.
#define HIPCPU_COMPARE(op)                                                                                 \
  friend P __h##op##2(P a, P b) { return {truth(__h##op(a.x, b.x)), truth(__h##op(a.y, b.y))}; }           \
  friend bool __hb##op##2(P a, P b) { return __h##op(a.x, b.x) && __h##op(a.y, b.y); }
  HIPCPU_COMPARE(eq)
  HIPCPU_COMPARE(ne)
  HIPCPU_COMPARE(lt)
  HIPCPU_COMPARE(le)
  HIPCPU_COMPARE(gt)
  HIPCPU_COMPARE(ge)
  HIPCPU_COMPARE(equ)
  HIPCPU_COMPARE(neu)
  HIPCPU_COMPARE(ltu)
  HIPCPU_COMPARE(leu)
  HIPCPU_COMPARE(gtu)
  HIPCPU_COMPARE(geu)
#undef HIPCPU_COMPARE
  friend P __hisnan2(P a) { return {truth(__hisnan(a.x)), truth(__hisnan(a.y))}; }

#define HIPCPU_MAP(name)                                                                                   \
  friend P h2##name(P a) { return {h##name(a.x), h##name(a.y)}; }
  HIPCPU_MAP(ceil)
  HIPCPU_MAP(cos)
  HIPCPU_MAP(exp)
  HIPCPU_MAP(exp2)
  HIPCPU_MAP(exp10)
  HIPCPU_MAP(floor)
  HIPCPU_MAP(log)
  HIPCPU_MAP(log2)
  HIPCPU_MAP(log10)
  HIPCPU_MAP(rcp)
  HIPCPU_MAP(rint)
  HIPCPU_MAP(rsqrt)
  HIPCPU_MAP(sin)
  HIPCPU_MAP(sqrt)
  HIPCPU_MAP(tanh)
  HIPCPU_MAP(trunc)
#undef HIPCPU_MAP

  friend float __low2float(P a) { return float(a.x); }
  friend float __high2float(P a) { return float(a.y); }
  friend P __lowhigh2highlow(P a) { return {a.y, a.x}; }

 private:
  static H truth(bool holds) { return H(holds ? 1.0f : 0.0f); }
};

// Rounding in a named direction, for a type whose bits count upwards with its magnitude.
template <class H>
inline H step(H h, int by) {
  auto bits = __builtin_bit_cast(unsigned short, h);
  bits = static_cast<unsigned short>(bits + by);
  return __builtin_bit_cast(H, bits);
}
template <class H>
inline H narrow_rz(float x) {
  const H nearest(x);
  return ::fabsf(float(nearest)) > ::fabsf(x) ? step(nearest, -1) : nearest;
}
template <class H>
inline H narrow_rd(float x) {
  const H nearest(x);
  if (float(nearest) > x) return step(nearest, x > 0 ? -1 : 1);
  return nearest;
}
template <class H>
inline H narrow_ru(float x) {
  const H nearest(x);
  if (float(nearest) < x) return step(nearest, x > 0 ? 1 : -1);
  return nearest;
}

}  // namespace hipcpu
