// Arithmetic of the 16-bit floating-point types on the GPU.
//
// It is the compiler's own on _Float16 and __bf16, on single numbers and on pairs, so that it becomes what the
// target has: packed instructions for halves, float for bfloat16.
#pragma once

#include <hip/hip_runtime.h>
#include <hipshared/narrow.h>

#pragma clang force_cuda_host_device begin

namespace xray {

// One number of type H, which holds a native number in `native`.
template <class H>
struct Narrow : hipshared::NarrowFunctions<H> {
  friend H operator+(H a, H b) { return H(static_cast<decltype(a.native)>(a.native + b.native)); }
  friend H operator-(H a, H b) { return H(static_cast<decltype(a.native)>(a.native - b.native)); }
  friend H operator*(H a, H b) { return H(static_cast<decltype(a.native)>(a.native * b.native)); }
  friend H operator/(H a, H b) { return H(static_cast<decltype(a.native)>(a.native / b.native)); }
  friend H operator-(H a) { return H(static_cast<decltype(a.native)>(-a.native)); }
  friend bool operator==(H a, H b) { return a.native == b.native; }
  friend bool operator!=(H a, H b) { return a.native != b.native; }
  friend bool operator<(H a, H b) { return a.native < b.native; }
  friend bool operator<=(H a, H b) { return a.native <= b.native; }
  friend bool operator>(H a, H b) { return a.native > b.native; }
  friend bool operator>=(H a, H b) { return a.native >= b.native; }

  friend H __habs(H a) { return H(__builtin_elementwise_abs(a.native)); }
  friend H __hmax(H a, H b) { return H(__builtin_elementwise_maxnum(a.native, b.native)); }
  friend H __hmin(H a, H b) { return H(__builtin_elementwise_minnum(a.native, b.native)); }

#pragma clang force_cuda_host_device end
  friend __device__ H __hfma(H a, H b, H c) { return H(__builtin_elementwise_fma(a.native, b.native, c.native)); }
  friend __device__ H hceil(H a) { return H(__builtin_elementwise_ceil(a.native)); }
  friend __device__ H hfloor(H a) { return H(__builtin_elementwise_floor(a.native)); }
  friend __device__ H hrint(H a) { return H(__builtin_elementwise_rint(a.native)); }
  friend __device__ H hrsqrt(H a) { return H(1 / ::sqrtf(float(a))); }
  friend __device__ H htrunc(H a) { return H(__builtin_elementwise_trunc(a.native)); }
#pragma clang force_cuda_host_device begin
};

// Two numbers of type H in P, with components x and y, computed as one vector of two native numbers.
template <class P, class H>
struct NarrowPair : hipshared::NarrowPairFunctions<P, H> {
  using Two = decltype(H::native) __attribute__((ext_vector_type(2)));
  static Two in(P a) { return {a.x.native, a.y.native}; }
  static P out(Two a) { return {H(a.x), H(a.y)}; }

  friend P operator+(P a, P b) { return out(in(a) + in(b)); }
  friend P operator-(P a, P b) { return out(in(a) - in(b)); }
  friend P operator*(P a, P b) { return out(in(a) * in(b)); }
  friend P operator/(P a, P b) { return out(in(a) / in(b)); }
  friend P operator-(P a) { return out(-in(a)); }
  friend P __habs2(P a) { return out(__builtin_elementwise_abs(in(a))); }

#pragma clang force_cuda_host_device end
  friend __device__ P __hfma2(P a, P b, P c) { return out(__builtin_elementwise_fma(in(a), in(b), in(c))); }
#pragma clang force_cuda_host_device begin
};

}  // namespace xray

#pragma clang force_cuda_host_device end
