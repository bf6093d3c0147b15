// The structs of one fp8 format, which the including file defines: of one number, of two and of four. There is no
// include guard: the file is included once per format.
//
// HIPSHARED_FP8_FN begins every function: it says on which side the function exists. HIPSHARED_FP8_MISSING declares the
// same function for device code that must not use it, so that a use is an error that says why.

struct HIPSHARED_FP8_NAME(__hip_fp8) {
  __hip_fp8_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = HIPSHARED_FP8_FORMAT;

  HIPSHARED_FP8_NAME(__hip_fp8)() = default;

#define HIPSHARED_FP8_FROM(type, to_float) \
  HIPSHARED_FP8_FN HIPSHARED_FP8_NAME(__hip_fp8)(type x) \
      : __x(hipshared::fp8_encode(to_float, __default_saturation, __default_interpret)) {} \
  HIPSHARED_FP8_MISSING(HIPSHARED_FP8_NAME(__hip_fp8)(type x))
  HIPSHARED_FP8_FROM(long, static_cast<float>(x))
  HIPSHARED_FP8_FROM(int, static_cast<float>(x))
  HIPSHARED_FP8_FROM(short, static_cast<float>(x))
  HIPSHARED_FP8_FROM(unsigned long, static_cast<float>(x))
  HIPSHARED_FP8_FROM(unsigned, static_cast<float>(x))
  HIPSHARED_FP8_FROM(unsigned short, static_cast<float>(x))
  HIPSHARED_FP8_FROM(double, hipshared::round_to_odd(x))
  HIPSHARED_FP8_FROM(float, x)
  HIPSHARED_FP8_FROM(__hip_bfloat16, float(x))
  HIPSHARED_FP8_FROM(__half, float(x))
#undef HIPSHARED_FP8_FROM

#define HIPSHARED_FP8_TO(type, expression) \
  HIPSHARED_FP8_FN operator type() const { \
    const float x = hipshared::fp8_decode(__x, __default_interpret); \
    return expression; \
  } \
  HIPSHARED_FP8_MISSING(operator type() const)
  HIPSHARED_FP8_TO(__half, __half(x))
  HIPSHARED_FP8_TO(__hip_bfloat16, __hip_bfloat16(x))
  HIPSHARED_FP8_TO(bool, x != 0)
  HIPSHARED_FP8_TO(char, hipshared::fp8_to_integer<char>(x))
  HIPSHARED_FP8_TO(double, x)
  HIPSHARED_FP8_TO(float, x)
  HIPSHARED_FP8_TO(int, hipshared::fp8_to_integer<int>(x))
  HIPSHARED_FP8_TO(long, hipshared::fp8_to_integer<long>(x))
  HIPSHARED_FP8_TO(long long, hipshared::fp8_to_integer<long long>(x))
  HIPSHARED_FP8_TO(short, hipshared::fp8_to_integer<short>(x))
  HIPSHARED_FP8_TO(signed char, hipshared::fp8_to_integer<signed char>(x))
  HIPSHARED_FP8_TO(unsigned char, hipshared::fp8_to_integer<unsigned char>(x))
  HIPSHARED_FP8_TO(unsigned, hipshared::fp8_to_integer<unsigned>(x))
  HIPSHARED_FP8_TO(unsigned long, hipshared::fp8_to_integer<unsigned long>(x))
  HIPSHARED_FP8_TO(unsigned long long, hipshared::fp8_to_integer<unsigned long long>(x))
  HIPSHARED_FP8_TO(unsigned short, hipshared::fp8_to_integer<unsigned short>(x))
#undef HIPSHARED_FP8_TO
};

struct HIPSHARED_FP8_NAME(__hip_fp8x2) {
  __hip_fp8x2_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = HIPSHARED_FP8_FORMAT;

  HIPSHARED_FP8_NAME(__hip_fp8x2)() = default;

#define HIPSHARED_FP8_FROM(type, convert) \
  HIPSHARED_FP8_FN HIPSHARED_FP8_NAME(__hip_fp8x2)(type v) : __x(convert(v, __default_saturation, __default_interpret)) {} \
  HIPSHARED_FP8_MISSING(HIPSHARED_FP8_NAME(__hip_fp8x2)(type v))
  HIPSHARED_FP8_FROM(double2, __hip_cvt_double2_to_fp8x2)
  HIPSHARED_FP8_FROM(float2, __hip_cvt_float2_to_fp8x2)
  HIPSHARED_FP8_FROM(__hip_bfloat162, __hip_cvt_bfloat16raw2_to_fp8x2)
  HIPSHARED_FP8_FROM(__half2, __hip_cvt_halfraw2_to_fp8x2)
#undef HIPSHARED_FP8_FROM

  HIPSHARED_FP8_FN operator __half2() const { return __hip_cvt_fp8x2_to_halfraw2(__x, __default_interpret); }
  HIPSHARED_FP8_MISSING(operator __half2() const)
  HIPSHARED_FP8_FN operator float2() const { return hipshared::fp8_decode_pair(__x, __default_interpret); }
  HIPSHARED_FP8_MISSING(operator float2() const)
};

struct HIPSHARED_FP8_NAME(__hip_fp8x4) {
  __hip_fp8x4_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = HIPSHARED_FP8_FORMAT;

  HIPSHARED_FP8_NAME(__hip_fp8x4)() = default;

#define HIPSHARED_FP8_FROM(type, convert) \
  HIPSHARED_FP8_FN HIPSHARED_FP8_NAME(__hip_fp8x4)(type v) \
      : __x(convert({v.x, v.y}, __default_saturation, __default_interpret) | \
            static_cast<__hip_fp8x4_storage_t>(convert({v.z, v.w}, __default_saturation, __default_interpret)) << 16) {} \
  HIPSHARED_FP8_MISSING(HIPSHARED_FP8_NAME(__hip_fp8x4)(type v))
  HIPSHARED_FP8_FROM(double4, __hip_cvt_double2_to_fp8x2)
  HIPSHARED_FP8_FROM(float4, __hip_cvt_float2_to_fp8x2)
#undef HIPSHARED_FP8_FROM

  // In ROCm 6.4 and 7.2 the second pair is in the lower half.
#define HIPSHARED_FP8_FROM(type, convert) \
  HIPSHARED_FP8_FN HIPSHARED_FP8_NAME(__hip_fp8x4)(type low, type high) \
      : __x(convert(high, __default_saturation, __default_interpret) | \
            static_cast<__hip_fp8x4_storage_t>(convert(low, __default_saturation, __default_interpret)) << 16) {} \
  HIPSHARED_FP8_MISSING(HIPSHARED_FP8_NAME(__hip_fp8x4)(type low, type high))
  HIPSHARED_FP8_FROM(__hip_bfloat162, __hip_cvt_bfloat16raw2_to_fp8x2)
  HIPSHARED_FP8_FROM(__half2, __hip_cvt_halfraw2_to_fp8x2)
#undef HIPSHARED_FP8_FROM

  HIPSHARED_FP8_FN operator float4() const {
    const float2 low = hipshared::fp8_decode_pair(__x & 0xffff, __default_interpret);
    const float2 high = hipshared::fp8_decode_pair(__x >> 16, __default_interpret);
    return {low.x, low.y, high.x, high.y};
  }
  HIPSHARED_FP8_MISSING(operator float4() const)
};

#undef HIPSHARED_FP8_FN
#undef HIPSHARED_FP8_MISSING
#undef HIPSHARED_FP8_NAME
#undef HIPSHARED_FP8_FORMAT
