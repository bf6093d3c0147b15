// __hip_bfloat16 and __hip_bfloat162: the upper half of a float, each operation rounded once, to the nearest.
//
// The target provides the struct __hip_bfloat16 in hiptarget/bfloat16.h and its arithmetic in hiptarget/narrow.h.
#pragma once

#include <hip/hip_runtime.h>
#include <hiptarget/bfloat16.h>

HIPTARGET_HOST_DEVICE_BEGIN

struct alignas(4) __hip_bfloat162 : hiptarget::NarrowPair<__hip_bfloat162, __hip_bfloat16> {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  constexpr __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
};

// Between float and bfloat16

static inline __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __float2bfloat16_rz(float x) { return hipshared::narrow_rz<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __float2bfloat16_rd(float x) { return hipshared::narrow_rd<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __float2bfloat16_ru(float x) { return hipshared::narrow_ru<__hip_bfloat16>(x); }
static inline __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
static inline float __bfloat162float(__hip_bfloat16 h) { return float(h); }

static inline __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
static inline __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
static inline __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
static inline float2 __bfloat1622float2(__hip_bfloat162 v) { return {float(v.x), float(v.y)}; }

// Between integers and bfloat16

#define HIPSHARED_BFLOAT_INTEGER(type, name) \
  static inline type __bfloat162##name##_rn(__hip_bfloat16 h) { \
    return hiptarget::to_integer<type>(__builtin_rintf(h)); \
  } \
  static inline type __bfloat162##name##_rz(__hip_bfloat16 h) { return hiptarget::to_integer<type>(__builtin_truncf(h)); } \
  static inline type __bfloat162##name##_rd(__hip_bfloat16 h) { return hiptarget::to_integer<type>(__builtin_floorf(h)); } \
  static inline type __bfloat162##name##_ru(__hip_bfloat16 h) { return hiptarget::to_integer<type>(__builtin_ceilf(h)); } \
  static inline __hip_bfloat16 __##name##2bfloat16_rn(type x) { return __hip_bfloat16(x); }
HIPSHARED_BFLOAT_INTEGER(short, short)
HIPSHARED_BFLOAT_INTEGER(unsigned short, ushort)
HIPSHARED_BFLOAT_INTEGER(int, int)
HIPSHARED_BFLOAT_INTEGER(unsigned, uint)
HIPSHARED_BFLOAT_INTEGER(long long, ll)
HIPSHARED_BFLOAT_INTEGER(unsigned long long, ull)
#undef HIPSHARED_BFLOAT_INTEGER

static inline short __bfloat16_as_short(__hip_bfloat16 h) { return __builtin_bit_cast(short, h); }
static inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 h) { return __builtin_bit_cast(unsigned short, h); }
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

HIPTARGET_HOST_DEVICE_END

// Atomics. The target provides hiptarget::atomic_update, and unsafeAtomicAdd for pairs.

__device__ static inline __hip_bfloat16 atomicAdd(__hip_bfloat16* pointer, __hip_bfloat16 value) {
  return hiptarget::atomic_update(pointer, [value](__hip_bfloat16 old) { return old + value; });
}
__device__ static inline __hip_bfloat162 atomicAdd(__hip_bfloat162* pointer, __hip_bfloat162 value) {
  return hiptarget::atomic_update(pointer, [value](__hip_bfloat162 old) { return old + value; });
}
__device__ static inline __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* pointer, __hip_bfloat162 value) {
  return hiptarget::unsafe_pair_add(pointer, value);
}

// Constants

#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3f80)
