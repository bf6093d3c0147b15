// __half and __half2: IEEE 754 numbers of 16 bits, each operation rounded once, to the nearest.
//
// The target provides hiptarget::Half, the native type, and its arithmetic in hiptarget/narrow.h.
#pragma once

#include <hip/hip_runtime.h>
#include <hiptarget/narrow.h>

HIPTARGET_HOST_DEVICE_BEGIN

struct __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  __half_raw x, y;
};

struct __half : hiptarget::Narrow<__half>, hipshared::HalfFunctions<__half> {
  hiptarget::Half native;

  __half() = default;  // trivial, so that shared memory can hold it
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, hiptarget::Half>)
  __half(T x) : native(static_cast<hiptarget::Half>(x)) {}
  __half(__half_raw raw) : native(__builtin_bit_cast(hiptarget::Half, raw.x)) {}

  constexpr operator float() const { return static_cast<float>(native); }
  operator __half_raw() const { return {__builtin_bit_cast(unsigned short, native)}; }
};

struct alignas(4) __half2 : hiptarget::NarrowPair<__half2, __half>, hipshared::HalfPairFunctions<__half2, __half> {
  __half x, y;

  __half2() = default;
  constexpr __half2(__half x, __half y) : x(x), y(y) {}
  __half2(__half2_raw raw) : x(raw.x), y(raw.y) {}

  operator __half2_raw() const { return {x, y}; }
};

using half = __half;
using half2 = __half2;

// Between float and half

static inline __half __float2half(float x) { return __half(x); }
static inline __half __float2half_rn(float x) { return __half(x); }
static inline __half __float2half_rz(float x) { return hipshared::narrow_rz<__half>(x); }
static inline __half __float2half_rd(float x) { return hipshared::narrow_rd<__half>(x); }
static inline __half __float2half_ru(float x) { return hipshared::narrow_ru<__half>(x); }
static inline float __half2float(__half h) { return float(h); }

static inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
static inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
static inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }

// Between integers and half

HIPTARGET_HOST_DEVICE_END
#define HIPSHARED_HALF_INTEGER(type, name) \
  __device__ static inline type __half2##name##_rn(__half h) { return hiptarget::to_integer<type>(__builtin_rintf(h)); } \
  __device__ static inline type __half2##name##_rz(__half h) { return hiptarget::to_integer<type>(__builtin_truncf(h)); } \
  __device__ static inline type __half2##name##_rd(__half h) { return hiptarget::to_integer<type>(__builtin_floorf(h)); } \
  __device__ static inline type __half2##name##_ru(__half h) { return hiptarget::to_integer<type>(__builtin_ceilf(h)); } \
  __device__ static inline __half __##name##2half_rz(type x) { \
    return hipshared::narrow_rz<__half>(hipshared::towards_zero<float>(x)); \
  } \
  __device__ static inline __half __##name##2half_rd(type x) { \
    return hipshared::narrow_rd<__half>(hipshared::at_most<float>(x)); \
  } \
  __device__ static inline __half __##name##2half_ru(type x) { \
    return hipshared::narrow_ru<__half>(hipshared::at_least<float>(x)); \
  }
HIPSHARED_HALF_INTEGER(short, short)
HIPSHARED_HALF_INTEGER(unsigned short, ushort)
HIPSHARED_HALF_INTEGER(int, int)
HIPSHARED_HALF_INTEGER(unsigned, uint)
HIPSHARED_HALF_INTEGER(long long, ll)
HIPSHARED_HALF_INTEGER(unsigned long long, ull)
#undef HIPSHARED_HALF_INTEGER
HIPTARGET_HOST_DEVICE_BEGIN
static inline __half __short2half_rn(short x) { return __half(x); }
static inline __half __ushort2half_rn(unsigned short x) { return __half(x); }
static inline __half __int2half_rn(int x) { return __half(x); }
static inline __half __uint2half_rn(unsigned x) { return __half(x); }
static inline __half __ll2half_rn(long long x) { return __half(x); }
static inline __half __ull2half_rn(unsigned long long x) { return __half(x); }

static inline short __half_as_short(__half h) { return __builtin_bit_cast(short, h); }
static inline unsigned short __half_as_ushort(__half h) { return __builtin_bit_cast(unsigned short, h); }
static inline __half __short_as_half(short bits) { return __builtin_bit_cast(__half, bits); }
static inline __half __ushort_as_half(unsigned short bits) { return __builtin_bit_cast(__half, bits); }

// Pairs

static inline __half2 make_half2(__half x, __half y) { return {x, y}; }
static inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static inline __half2 __half2half2(__half h) { return {h, h}; }
static inline __half __low2half(__half2 v) { return v.x; }
static inline __half __high2half(__half2 v) { return v.y; }
static inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
static inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
static inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
static inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

HIPTARGET_HOST_DEVICE_END

template <>
inline constexpr bool hipshared::can_shuffle<__half> = true;
template <>
inline constexpr bool hipshared::can_shuffle<__half2> = true;

// Loads with a cache hint, which is ignored

HIPSHARED_LOAD(__ldg, __half)
HIPSHARED_LOAD(__ldg, __half2)
HIPSHARED_LOAD(__ldca, __half)
HIPSHARED_LOAD(__ldca, __half2)
HIPSHARED_LOAD(__ldcg, __half)
HIPSHARED_LOAD(__ldcg, __half2)
HIPSHARED_LOAD(__ldcs, __half)
HIPSHARED_LOAD(__ldcs, __half2)

// Atomics: only the fast addition. The target provides hiptarget::atomic_update and unsafe_pair_add.

__device__ static inline __half unsafeAtomicAdd(__half* pointer, __half value) HIPTARGET_NEEDS_ROCM_7 {
  return hiptarget::atomic_update(pointer, [value](__half old) { return old + value; });
}
__device__ static inline __half2 unsafeAtomicAdd(__half2* pointer, __half2 value) {
  return hiptarget::unsafe_pair_add(pointer, value);
}

// Constants

#define HIPRT_INF_FP16 __ushort_as_half(0x7c00)
#define HIPRT_NAN_FP16 __ushort_as_half(0x7fff)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define HIPRT_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define HIPRT_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define HIPRT_ZERO_FP16 __ushort_as_half(0x0000)
#define HIPRT_ONE_FP16 __ushort_as_half(0x3c00)
