// The matrix instructions of gfx942 behind one name: Step<Element, Sum, M> multiplies M x K by K x M and adds.
//
// A lane passes kItems elements of A and of B, which are consecutive in K: those of row (or column) lane % M, from
// lane / M * kItems on. It has kSums elements of the result, in column lane % M; row_of says in which rows.
#pragma once

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
#include <hiptarget/matrix.h>

namespace hipshared::matrix {

template <class Element, class Sum, unsigned M>
struct Step {
  static constexpr bool kExists = false;
};

// Which row of the result item `i` of a lane is in.
template <unsigned M, bool kDouble = false>
__device__ constexpr unsigned row_of(unsigned lane, unsigned i) {
  if constexpr (M == 32) return 8 * (i / 4) + 4 * (lane / 32) + i % 4;
  return kDouble ? 4 * i + lane / 16 : 4 * (lane / 16) + i;
}

#define HIPSHARED_STEP(Element, Sum, size, depth, Operand, builtin) \
  template <> \
  struct Step<Element, Sum, size> { \
    static constexpr bool kExists = true; \
    static constexpr unsigned kDepth = depth; \
    static constexpr unsigned kItems = size * depth / 64, kSums = size * size / 64; \
    using Sums = hiptarget::ext_vector<Sum, kSums>; \
    __device__ static Sums multiply(const Element* a, const Element* b, Sums c, [[maybe_unused]] int line) { \
      Operand left, right; \
      static_assert(sizeof(Operand) == kItems * sizeof(Element)); \
      __builtin_memcpy(&left, a, sizeof left); \
      __builtin_memcpy(&right, b, sizeof right); \
      return __builtin_amdgcn_mfma_##builtin(left, right, c, 0, 0, 0 HIPTARGET_AT(line)); \
    } \
  };
using Halves = hiptarget::ext_vector<_Float16, 4>;
using Shorts = hiptarget::ext_vector<short, 4>;
HIPSHARED_STEP(_Float16, float, 16, 16, Halves, f32_16x16x16f16)
HIPSHARED_STEP(_Float16, float, 32, 8, Halves, f32_32x32x8f16)
HIPSHARED_STEP(__half, float, 16, 16, Halves, f32_16x16x16f16)
HIPSHARED_STEP(__half, float, 32, 8, Halves, f32_32x32x8f16)
HIPSHARED_STEP(hip_bfloat16, float, 16, 16, Shorts, f32_16x16x16bf16_1k)
HIPSHARED_STEP(hip_bfloat16, float, 32, 8, Shorts, f32_32x32x8bf16_1k)
HIPSHARED_STEP(__hip_bfloat16, float, 16, 16, Shorts, f32_16x16x16bf16_1k)
HIPSHARED_STEP(__hip_bfloat16, float, 32, 8, Shorts, f32_32x32x8bf16_1k)
HIPSHARED_STEP(float, float, 16, 4, float, f32_16x16x4f32)
HIPSHARED_STEP(float, float, 32, 2, float, f32_32x32x2f32)
HIPSHARED_STEP(double, double, 16, 4, double, f64_16x16x4f64)
HIPSHARED_STEP(signed char, int, 16, 32, long, i32_16x16x32_i8)
HIPSHARED_STEP(signed char, int, 32, 16, long, i32_32x32x16_i8)
#if defined(HIPCPU_GFX950) || defined(__gfx950__)
HIPSHARED_STEP(__hip_fp8_e4m3, float, 16, 32, long, f32_16x16x32_fp8_fp8)
HIPSHARED_STEP(__hip_fp8_e4m3, float, 32, 16, long, f32_32x32x16_fp8_fp8)
HIPSHARED_STEP(__hip_fp8_e5m2, float, 16, 32, long, f32_16x16x32_bf8_bf8)
HIPSHARED_STEP(__hip_fp8_e5m2, float, 32, 16, long, f32_32x32x16_bf8_bf8)
#else
HIPSHARED_STEP(__hip_fp8_e4m3_fnuz, float, 16, 32, long, f32_16x16x32_fp8_fp8)
HIPSHARED_STEP(__hip_fp8_e4m3_fnuz, float, 32, 16, long, f32_32x32x16_fp8_fp8)
HIPSHARED_STEP(__hip_fp8_e5m2_fnuz, float, 16, 32, long, f32_16x16x32_bf8_bf8)
HIPSHARED_STEP(__hip_fp8_e5m2_fnuz, float, 32, 16, long, f32_32x32x16_bf8_bf8)
#endif
#undef HIPSHARED_STEP

// The type in which sums of a kind of element are computed.
template <class Element>
struct SumOf {
  using type = float;
};
template <>
struct SumOf<double> {
  using type = double;
};
template <>
struct SumOf<signed char> {
  using type = int;
};

}  // namespace hipshared::matrix
