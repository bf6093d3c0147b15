// Arithmetic of the 16-bit floating-point types on the CPU.
//
// Everything is computed in float and rounded once: float has more than twice the digits of either type, so
// that rounding twice makes no difference.
#pragma once

#include <hipcpu/atomics.h>
#include <hipcpu/math.h>
#include <hipshared/narrow.h>

namespace hipcpu {

// Returns a * b + c as a double whose last bit is set if digits were lost, so that only the next rounding counts.
inline double fused(double a, double b, double c) {
  const double product = a * b;  // exact: neither factor has more than 11 digits
  const double sum = product + c;
  const double kept = sum - product;
  const double lost = (product - (sum - kept)) + (c - kept);
  auto bits = __builtin_bit_cast(unsigned long long, sum);
  if (lost != 0 && lost == lost && (bits & 1) == 0) bits += (lost > 0) == (sum > 0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}

// One number of type H, which converts to float, and from float by rounding.
template <class H>
struct Narrow : hipshared::NarrowFunctions<H> {
  friend H operator+(H a, H b) { return H(float(a) + float(b)); }
  friend H operator-(H a, H b) { return H(float(a) - float(b)); }
  friend H operator*(H a, H b) { return H(float(a) * float(b)); }
  friend H operator/(H a, H b) { return H(float(a) / float(b)); }
  friend H operator-(H a) { return H(-float(a)); }
  friend bool operator==(H a, H b) { return float(a) == float(b); }
  friend bool operator!=(H a, H b) { return float(a) != float(b); }
  friend bool operator<(H a, H b) { return float(a) < float(b); }
  friend bool operator<=(H a, H b) { return float(a) <= float(b); }
  friend bool operator>(H a, H b) { return float(a) > float(b); }
  friend bool operator>=(H a, H b) { return float(a) >= float(b); }

  friend H __hfma(H a, H b, H c) { return H(fused(float(a), float(b), float(c))); }
  friend H __habs(H a) { return H(::fabsf(float(a))); }
  friend H __hmax(H a, H b) { return H(::fmaxf(float(a), float(b))); }
  friend H __hmin(H a, H b) { return H(::fminf(float(a), float(b))); }
  friend H hceil(H a) { return H(::ceilf(float(a))); }
  friend H hfloor(H a) { return H(::floorf(float(a))); }
  friend H hrint(H a) { return H(::rintf(float(a))); }
  friend H hrsqrt(H a) { return H(1 / ::sqrt(double(float(a)))); }
  friend H htrunc(H a) { return H(::truncf(float(a))); }
};

// Two numbers of type H in P, with components x and y.
template <class P, class H>
struct NarrowPair : hipshared::NarrowPairFunctions<P, H> {
  friend P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }
  friend P operator-(P a, P b) { return {a.x - b.x, a.y - b.y}; }
  friend P operator*(P a, P b) { return {a.x * b.x, a.y * b.y}; }
  friend P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }
  friend P operator-(P a) { return {-a.x, -a.y}; }
  friend P __hfma2(P a, P b, P c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
  friend P __habs2(P a) { return {__habs(a.x), __habs(a.y)}; }
};

}  // namespace hipcpu
