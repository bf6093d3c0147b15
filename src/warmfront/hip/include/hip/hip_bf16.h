// __hip_bfloat16 and __hip_bfloat162: the upper half of a float, each operation rounded once, to the nearest.
//
// The target provides the struct __hip_bfloat16 in hiptarget/bfloat16.h and its arithmetic in hiptarget/narrow.h.
#pragma once

#include <hip/hip_runtime.h>
#include <hiptarget/bfloat16.h>

HIPTARGET_HOST_DEVICE_BEGIN

struct alignas(4) __hip_bfloat162_raw {
  unsigned short x, y;
};

struct alignas(4) __hip_bfloat162 : hiptarget::NarrowPair<__hip_bfloat162, __hip_bfloat16> {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
  __hip_bfloat162(__hip_bfloat162_raw raw) : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}

  operator __hip_bfloat162_raw() const { return {__hip_bfloat16_raw(x).x, __hip_bfloat16_raw(y).x}; }
  operator float2() const { return {float(x), float(y)}; }
};

// Between float and bfloat16

static inline __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
static inline __hip_bfloat16 __int2bfloat16_rn(int x) HIPTARGET_NEEDS_ROCM_7 { return __hip_bfloat16(x); }
static inline float __bfloat162float(__hip_bfloat16 h) { return float(h); }

static inline __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
static inline float2 __bfloat1622float2(__hip_bfloat162 v) { return {float(v.x), float(v.y)}; }

// As bits

static inline short __bfloat16_as_short(__hip_bfloat16 h) { return __builtin_bit_cast(short, h); }
static inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 h) { return __builtin_bit_cast(unsigned short, h); }
static inline __hip_bfloat16 __short_as_bfloat16(short bits) { return __builtin_bit_cast(__hip_bfloat16, bits); }
static inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __builtin_bit_cast(__hip_bfloat16, bits);
}

// Pairs

static inline __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
static inline __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
static inline __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
static inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 h) { return {h, h}; }
static inline __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
static inline __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
static inline __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return {v.x, v.x}; }
static inline __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return {v.y, v.y}; }
static inline __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
static inline __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }

HIPTARGET_HOST_DEVICE_END

template <>
inline constexpr bool hipshared::can_shuffle<__hip_bfloat16> = true;
template <>
inline constexpr bool hipshared::needs_rocm_7_to_shuffle<__hip_bfloat16> = true;

// Atomics: only the fast addition. The target provides hiptarget::atomic_update and unsafe_pair_add.

__device__ static inline __hip_bfloat16 unsafeAtomicAdd(__hip_bfloat16* pointer, __hip_bfloat16 value) HIPTARGET_NEEDS_ROCM_7 {
  return hiptarget::atomic_update(pointer, [value](__hip_bfloat16 old) { return old + value; });
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
