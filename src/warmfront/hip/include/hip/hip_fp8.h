// Numbers of eight bits: e4m3 and e5m2, as FNUZ (the formats of an MI300X) and as OCP (those of an MI350X).
//
// A type of the wrong family can be used in host code, and is an error in device code. The target's
// hiptarget/fp8.h defines the family of its device code, and the conversions.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hiptarget/fp8.h>

enum __hip_fp8_interpretation_t {
  __HIP_E4M3 = 0,
  __HIP_E5M2 = 1,
  __HIP_E4M3_FNUZ = 2,
  __HIP_E5M2_FNUZ = 3,
};

enum __hip_saturation_t {
  __HIP_NOSAT = 0,
  __HIP_SATFINITE = 1,
};

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

namespace hipshared {

HIPTARGET_HOST_DEVICE_BEGIN

// From one code to a number and back, with the format as a value.
inline float fp8_decode(unsigned code, __hip_fp8_interpretation_t format) {
  switch (format) {
    case __HIP_E4M3: return hiptarget::fp8_decode<E4m3>(code);
    case __HIP_E5M2: return hiptarget::fp8_decode<E5m2>(code);
    case __HIP_E4M3_FNUZ: return hiptarget::fp8_decode<E4m3Fnuz>(code);
    default: return hiptarget::fp8_decode<E5m2Fnuz>(code);
  }
}

inline __hip_fp8_storage_t fp8_encode(float x, __hip_saturation_t saturation, __hip_fp8_interpretation_t format) {
  const bool saturate = saturation == __HIP_SATFINITE;
  switch (format) {
    case __HIP_E4M3: return static_cast<__hip_fp8_storage_t>(hiptarget::fp8_encode<E4m3>(x, saturate));
    case __HIP_E5M2: return static_cast<__hip_fp8_storage_t>(hiptarget::fp8_encode<E5m2>(x, saturate));
    case __HIP_E4M3_FNUZ: return static_cast<__hip_fp8_storage_t>(hiptarget::fp8_encode<E4m3Fnuz>(x, saturate));
    default: return static_cast<__hip_fp8_storage_t>(hiptarget::fp8_encode<E5m2Fnuz>(x, saturate));
  }
}

// The same for pairs, whose first number is in the lower byte.
inline float2 fp8_decode_pair(unsigned codes, __hip_fp8_interpretation_t format) {
  switch (format) {
    case __HIP_E4M3: return hiptarget::fp8_decode_pair<E4m3>(codes);
    case __HIP_E5M2: return hiptarget::fp8_decode_pair<E5m2>(codes);
    case __HIP_E4M3_FNUZ: return hiptarget::fp8_decode_pair<E4m3Fnuz>(codes);
    default: return hiptarget::fp8_decode_pair<E5m2Fnuz>(codes);
  }
}

inline __hip_fp8x2_storage_t fp8_encode_pair(float2 v, __hip_saturation_t saturation, __hip_fp8_interpretation_t format) {
  const bool saturate = saturation == __HIP_SATFINITE;
  switch (format) {
    case __HIP_E4M3: return static_cast<__hip_fp8x2_storage_t>(hiptarget::fp8_encode_pair<E4m3>(v, saturate));
    case __HIP_E5M2: return static_cast<__hip_fp8x2_storage_t>(hiptarget::fp8_encode_pair<E5m2>(v, saturate));
    case __HIP_E4M3_FNUZ: return static_cast<__hip_fp8x2_storage_t>(hiptarget::fp8_encode_pair<E4m3Fnuz>(v, saturate));
    default: return static_cast<__hip_fp8x2_storage_t>(hiptarget::fp8_encode_pair<E5m2Fnuz>(v, saturate));
  }
}

inline float2 round_to_odd(double2 v) { return {round_to_odd(v.x), round_to_odd(v.y)}; }

// NaN as an integer is 0, and a number that is out of range is the nearest that the type has.
template <class Integer>
inline Integer fp8_to_integer(float x) {
  constexpr bool kSigned = static_cast<Integer>(-1) < 0;
  constexpr bool kSmall = sizeof(Integer) < 4;
  if (!(x == x)) return 0;
  if (!kSigned && x <= 0) return 0;
  if constexpr (kSmall) {
    constexpr int kHighest = kSigned ? (1 << (sizeof(Integer) * 8 - 1)) - 1 : (1 << (sizeof(Integer) * 8)) - 1;
    constexpr int kLowest = kSigned ? -kHighest - 1 : 0;
    return static_cast<Integer>(x <= kLowest ? kLowest : x >= kHighest ? kHighest : static_cast<int>(x));
  }
  return hiptarget::to_integer<Integer>(x);
}

HIPTARGET_HOST_DEVICE_END

}  // namespace hipshared

// Conversions. In device code, the format must be one that the target has.

#ifdef HIPTARGET_FP8_CHECK
#define HIPSHARED_FP8_SIDE __device__
#define HIPSHARED_FP8_CHECK HIPTARGET_FP8_CHECK(format)
#include <hipshared/fp8_conversions.h>
#define HIPSHARED_FP8_SIDE __host__
#else
#define HIPSHARED_FP8_SIDE __host__ __device__
#endif
#define HIPSHARED_FP8_CHECK
#include <hipshared/fp8_conversions.h>

// The types: for each format one number, two and four.

#define HIPSHARED_FP8_NAME(prefix) prefix##_e4m3_fnuz
#define HIPSHARED_FP8_FORMAT __HIP_E4M3_FNUZ
#define HIPSHARED_FP8_FN HIPTARGET_FP8_FNUZ
#define HIPSHARED_FP8_MISSING HIPTARGET_FP8_FNUZ_MISSING
#include <hipshared/fp8_types.h>
#define HIPSHARED_FP8_NAME(prefix) prefix##_e5m2_fnuz
#define HIPSHARED_FP8_FORMAT __HIP_E5M2_FNUZ
#define HIPSHARED_FP8_FN HIPTARGET_FP8_FNUZ
#define HIPSHARED_FP8_MISSING HIPTARGET_FP8_FNUZ_MISSING
#include <hipshared/fp8_types.h>
#define HIPSHARED_FP8_NAME(prefix) prefix##_e4m3
#define HIPSHARED_FP8_FORMAT __HIP_E4M3
#define HIPSHARED_FP8_FN HIPTARGET_FP8_OCP
#define HIPSHARED_FP8_MISSING HIPTARGET_FP8_OCP_MISSING
#include <hipshared/fp8_types.h>
#define HIPSHARED_FP8_NAME(prefix) prefix##_e5m2
#define HIPSHARED_FP8_FORMAT __HIP_E5M2
#define HIPSHARED_FP8_FN HIPTARGET_FP8_OCP
#define HIPSHARED_FP8_MISSING HIPTARGET_FP8_OCP_MISSING
#include <hipshared/fp8_types.h>
