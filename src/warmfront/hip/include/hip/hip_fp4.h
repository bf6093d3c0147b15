// Numbers of four bits: e2m1. Two are in a byte.
//
// ROCm 7 has them for every GPU; an MI350X has instructions for them. A number that is too large, an infinity and a NaN
// become the largest number of the same sign, as in ROCm.
#pragma once

#include <hip/hip_fp8.h>
#include <hipshared/small_floats.h>

typedef __hip_fp8_storage_t __hip_fp4_storage_t;
typedef __hip_fp8_storage_t __hip_fp4x2_storage_t;
typedef __hip_fp8x2_storage_t __hip_fp4x4_storage_t;

enum __hip_fp4_interpretation_t {
  __HIP_E2M1 = 0,
};

HIPTARGET_HOST_DEVICE_BEGIN

namespace hipshared {

inline unsigned fp4_encode(float2 v, __hip_fp4_interpretation_t) { return small_encode<E2m1>(v, 4); }
inline float2 fp4_decode(unsigned codes, __hip_fp4_interpretation_t) { return small_decode<E2m1>(codes, 4); }

}  // namespace hipshared

#define HIPSHARED_SMALL_CONVERT(result, name, from, to_floats) \
  static inline result __hip_cvt_##name(from, __hip_fp4_interpretation_t format, hipRoundMode) HIPTARGET_NEEDS_ROCM_7 { \
    return static_cast<result>(hipshared::fp4_encode(to_floats, format)); \
  }
HIPSHARED_SMALL_CONVERT(__hip_fp4_storage_t, float_to_fp4, float x, float2(x, 0))
HIPSHARED_SMALL_CONVERT(__hip_fp4_storage_t, double_to_fp4, double x, float2(x, 0))
HIPSHARED_SMALL_CONVERT(__hip_fp4_storage_t, halfraw_to_fp4, __half_raw x, float2(float(__half(x)), 0))
HIPSHARED_SMALL_CONVERT(__hip_fp4_storage_t, bfloat16raw_to_fp4, __hip_bfloat16_raw x, float2(float(__hip_bfloat16(x)), 0))
HIPSHARED_SMALL_CONVERT(__hip_fp4x2_storage_t, float2_to_fp4x2, float2 v, v)
HIPSHARED_SMALL_CONVERT(__hip_fp4x2_storage_t, double2_to_fp4x2, double2 v, hipshared::as_floats(v))
HIPSHARED_SMALL_CONVERT(__hip_fp4x2_storage_t, halfraw2_to_fp4x2, __half2_raw v, __half22float2(v))
HIPSHARED_SMALL_CONVERT(__hip_fp4x2_storage_t, bfloat16raw2_to_fp4x2, __hip_bfloat162_raw v, __bfloat1622float2(v))
#undef HIPSHARED_SMALL_CONVERT

static inline __half_raw __hip_cvt_fp4_to_halfraw(__hip_fp4_storage_t x, __hip_fp4_interpretation_t format) HIPTARGET_NEEDS_ROCM_7 {
  return __half(hipshared::fp4_decode(x, format).x);
}
static inline __half2_raw __hip_cvt_fp4x2_to_halfraw2(__hip_fp4x2_storage_t v, __hip_fp4_interpretation_t format)
    HIPTARGET_NEEDS_ROCM_7 {
  return __float22half2_rn(hipshared::fp4_decode(v, format));
}

HIPTARGET_HOST_DEVICE_END

#define HIPSHARED_SMALL_BITS 4
#define HIPSHARED_SMALL_STORAGE_1 __hip_fp4_storage_t
#define HIPSHARED_SMALL_STORAGE_2 __hip_fp4x2_storage_t
#define HIPSHARED_SMALL_STORAGE_4 __hip_fp4x4_storage_t

#define HIPSHARED_SMALL_NAME(count) __hip_fp4##count##_e2m1
#define HIPSHARED_SMALL_FORMAT hipshared::E2m1
#define HIPSHARED_SMALL_FIRST low
#define HIPSHARED_SMALL_SECOND high
#include <hipshared/small_float_types.h>

#undef HIPSHARED_SMALL_BITS
#undef HIPSHARED_SMALL_STORAGE_1
#undef HIPSHARED_SMALL_STORAGE_2
#undef HIPSHARED_SMALL_STORAGE_4
