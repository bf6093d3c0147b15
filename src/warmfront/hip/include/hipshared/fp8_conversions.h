// HIP's functions that convert between fp8 and other types. There is no include guard: where the host and the device
// have different formats, the file is included once for each side.

#define HIPSHARED_FP8_CONVERT(result, name, from, expression) \
  HIPSHARED_FP8_SIDE static inline result __hip_cvt_##name(from, __hip_saturation_t saturation, \
                                                           __hip_fp8_interpretation_t format) HIPSHARED_FP8_CHECK { \
    return hipshared::expression; \
  }
HIPSHARED_FP8_CONVERT(__hip_fp8_storage_t, float_to_fp8, float x, fp8_encode(x, saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8x2_storage_t, float2_to_fp8x2, float2 v, fp8_encode_pair(v, saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8_storage_t, double_to_fp8, double x,
                      fp8_encode(hipshared::round_to_odd(x), saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8x2_storage_t, double2_to_fp8x2, double2 v,
                      fp8_encode_pair(hipshared::round_to_odd(v), saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8_storage_t, bfloat16raw_to_fp8, __hip_bfloat16_raw x,
                      fp8_encode(float(__hip_bfloat16(x)), saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8x2_storage_t, bfloat16raw2_to_fp8x2, __hip_bfloat162_raw v,
                      fp8_encode_pair(__bfloat1622float2(v), saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8_storage_t, halfraw_to_fp8, __half_raw x,
                      fp8_encode(float(__half(x)), saturation, format))
HIPSHARED_FP8_CONVERT(__hip_fp8x2_storage_t, halfraw2_to_fp8x2, __half2_raw v,
                      fp8_encode_pair(__half22float2(v), saturation, format))
#undef HIPSHARED_FP8_CONVERT

HIPSHARED_FP8_SIDE static inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x,
                                                                     __hip_fp8_interpretation_t format)
    HIPSHARED_FP8_CHECK {
  return __half(hipshared::fp8_decode(x, format));
}
HIPSHARED_FP8_SIDE static inline __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t v,
                                                                         __hip_fp8_interpretation_t format)
    HIPSHARED_FP8_CHECK {
  return __float22half2_rn(hipshared::fp8_decode_pair(v, format));
}

#undef HIPSHARED_FP8_SIDE
#undef HIPSHARED_FP8_CHECK
