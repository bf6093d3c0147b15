// __hip_bfloat16 and __hip_bfloat162: the upper half of a float, each operation rounded once, to the nearest.
#pragma once

#include <hip/hip_runtime.h>
#include <hipcpu/narrow.h>

namespace hipcpu {

// The upper 16 bits, rounded to the nearest, ties to even; a NaN stays one.
inline unsigned short bfloat_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return static_cast<unsigned short>(bits >> 16 | 0x40);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A float whose last bit says that digits were lost, so that rounding it again does no harm.
inline float sticky_float(double x) {
  const float nearest = static_cast<float>(x);
  if (nearest == x || x != x) return nearest;
  const float truncated = towards_zero<float>(x);
  return __uint_as_float(__float_as_uint(truncated) | 1);
}

}  // namespace hipcpu

struct __hip_bfloat16_raw {
  unsigned short x;
};

struct __hip_bfloat16 : hipcpu::Narrow<__hip_bfloat16> {
  unsigned short data;

  __hip_bfloat16() = default;  // trivial, so that shared memory can hold it
  __hip_bfloat16(float x) : data(hipcpu::bfloat_bits(x)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  __hip_bfloat16(T x) : __hip_bfloat16(hipcpu::sticky_float(static_cast<double>(x))) {}
  __hip_bfloat16(__hip_bfloat16_raw raw) : data(raw.x) {}

  operator float() const { return __uint_as_float(static_cast<unsigned>(data) << 16); }
  operator __hip_bfloat16_raw() const { return {data}; }
};

struct alignas(4) __hip_bfloat162 : hipcpu::NarrowPair<__hip_bfloat162, __hip_bfloat16> {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
};

// Between float and bfloat16

static inline __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __float2bfloat16_rz(float x) { return hipcpu::narrow_rz<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __float2bfloat16_rd(float x) { return hipcpu::narrow_rd<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __float2bfloat16_ru(float x) { return hipcpu::narrow_ru<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
static inline float __bfloat162float(__hip_bfloat16 h) { return float(h); }

static inline __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
static inline __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
static inline __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
static inline float2 __bfloat1622float2(__hip_bfloat162 v) { return {float(v.x), float(v.y)}; }

// Between integers and bfloat16

#define HIPCPU_BFLOAT_INTEGER(type, name)                                                                  \
  static inline type __bfloat162##name##_rn(__hip_bfloat16 h) {                                            \
    return hipcpu::saturate<type>(::nearbyintf(h));                                                        \
  }                                                                                                        \
  static inline type __bfloat162##name##_rz(__hip_bfloat16 h) { return hipcpu::saturate<type>(::truncf(h)); } \
  static inline type __bfloat162##name##_rd(__hip_bfloat16 h) { return hipcpu::saturate<type>(::floorf(h)); } \
  static inline type __bfloat162##name##_ru(__hip_bfloat16 h) { return hipcpu::saturate<type>(::ceilf(h)); } \
  static inline __hip_bfloat16 __##name##2bfloat16_rn(type x) { return __hip_bfloat16(x); }
HIPCPU_BFLOAT_INTEGER(short, short)
HIPCPU_BFLOAT_INTEGER(unsigned short, ushort)
HIPCPU_BFLOAT_INTEGER(int, int)
HIPCPU_BFLOAT_INTEGER(unsigned, uint)
HIPCPU_BFLOAT_INTEGER(long long, ll)
HIPCPU_BFLOAT_INTEGER(unsigned long long, ull)
#undef HIPCPU_BFLOAT_INTEGER

static inline short __bfloat16_as_short(__hip_bfloat16 h) { return static_cast<short>(h.data); }
static inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 h) { return h.data; }
static inline __hip_bfloat16 __short_as_bfloat16(short bits) { return __builtin_bit_cast(__hip_bfloat16, bits); }
static inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __builtin_bit_cast(__hip_bfloat16, bits);
}

// Pairs

static inline __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
static inline __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
static inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 h) { return {h, h}; }
static inline __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
static inline __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
static inline __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return {v.x, v.x}; }
static inline __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return {v.y, v.y}; }
static inline __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
static inline __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }

// Atomics

static inline __hip_bfloat16 atomicAdd(__hip_bfloat16* p, __hip_bfloat16 v) {
  return hipcpu::atomic_update(p, [v](__hip_bfloat16 old) { return old + v; });
}
static inline __hip_bfloat162 atomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) {
  return hipcpu::atomic_update(p, [v](__hip_bfloat162 old) { return old + v; });
}
static inline __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) { return atomicAdd(p, v); }

// Constants

#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3f80)
