// The structs of one format of four or six bits, which the including file defines: of one number, of two and of four.
// There is no include guard: the file is included once per format.

HIPTARGET_HOST_DEVICE_BEGIN

struct HIPSHARED_SMALL_NAME() {
  HIPSHARED_SMALL_STORAGE_1 __x;

  HIPSHARED_SMALL_NAME()() = default;

#define HIPSHARED_SMALL_FROM(type) \
  explicit HIPSHARED_SMALL_NAME()(type x) HIPTARGET_NEEDS_ROCM_7 \
      : __x(static_cast<HIPSHARED_SMALL_STORAGE_1>(HIPSHARED_SMALL_FORMAT::encode(static_cast<float>(x), true))) {}
  HIPSHARED_SMALL_FROM(__half)
  HIPSHARED_SMALL_FROM(__hip_bfloat16)
  HIPSHARED_SMALL_FROM(double)
  HIPSHARED_SMALL_FROM(float)
  HIPSHARED_SMALL_FROM(int)
  HIPSHARED_SMALL_FROM(long)
  HIPSHARED_SMALL_FROM(long long)
  HIPSHARED_SMALL_FROM(short)
  HIPSHARED_SMALL_FROM(unsigned)
  HIPSHARED_SMALL_FROM(unsigned long)
  HIPSHARED_SMALL_FROM(unsigned long long)
  HIPSHARED_SMALL_FROM(unsigned short)
#undef HIPSHARED_SMALL_FROM

  operator __half_raw() const { return __half(float(*this)); }
  operator __hip_bfloat16_raw() const { return __hip_bfloat16(float(*this)); }
  operator float() const { return HIPSHARED_SMALL_FORMAT::decode(__x & (2 * HIPSHARED_SMALL_FORMAT::kSign - 1)); }
  operator double() const { return float(*this); }
};

struct HIPSHARED_SMALL_NAME(x2) {
  HIPSHARED_SMALL_STORAGE_2 __x;

  HIPSHARED_SMALL_NAME(x2)() = default;

#define HIPSHARED_SMALL_FROM(type) \
  explicit HIPSHARED_SMALL_NAME(x2)(type v) HIPTARGET_NEEDS_ROCM_7 \
      : __x(static_cast<HIPSHARED_SMALL_STORAGE_2>( \
            hipshared::small_encode<HIPSHARED_SMALL_FORMAT>(hipshared::as_floats(v), HIPSHARED_SMALL_BITS))) {}
  HIPSHARED_SMALL_FROM(__half2)
  HIPSHARED_SMALL_FROM(__hip_bfloat162)
  HIPSHARED_SMALL_FROM(double2)
  HIPSHARED_SMALL_FROM(float2)
#undef HIPSHARED_SMALL_FROM

  operator __half2_raw() const { return __float22half2_rn(float2(*this)); }
  operator __hip_bfloat162_raw() const { return __float22bfloat162_rn(float2(*this)); }
  operator float2() const { return hipshared::small_decode<HIPSHARED_SMALL_FORMAT>(__x, HIPSHARED_SMALL_BITS); }
  operator double2() const {
    const float2 v = *this;
    return {v.x, v.y};
  }
};

struct HIPSHARED_SMALL_NAME(x4) {
  HIPSHARED_SMALL_STORAGE_4 __x;

  HIPSHARED_SMALL_NAME(x4)() = default;

#define HIPSHARED_SMALL_FROM(type) \
  explicit HIPSHARED_SMALL_NAME(x4)(type HIPSHARED_SMALL_FIRST, type HIPSHARED_SMALL_SECOND) HIPTARGET_NEEDS_ROCM_7 \
      : __x(pack(hipshared::as_floats(low), hipshared::as_floats(high))) {}
  HIPSHARED_SMALL_FROM(__half2)
  HIPSHARED_SMALL_FROM(__hip_bfloat162)
#undef HIPSHARED_SMALL_FROM
#define HIPSHARED_SMALL_FROM(type, pair) \
  explicit HIPSHARED_SMALL_NAME(x4)(type v) HIPTARGET_NEEDS_ROCM_7 \
      : __x(pack(hipshared::as_floats(pair(v.x, v.y)), hipshared::as_floats(pair(v.z, v.w)))) {}
  HIPSHARED_SMALL_FROM(double4, double2)
  HIPSHARED_SMALL_FROM(float4, float2)
#undef HIPSHARED_SMALL_FROM

  operator float4() const {
    const float2 low = hipshared::small_decode<HIPSHARED_SMALL_FORMAT>(__x, HIPSHARED_SMALL_BITS);
    const float2 high =
        hipshared::small_decode<HIPSHARED_SMALL_FORMAT>(__x >> (2 * HIPSHARED_SMALL_BITS), HIPSHARED_SMALL_BITS);
    return {low.x, low.y, high.x, high.y};
  }
  operator double4() const {
    const float4 v = *this;
    return {v.x, v.y, v.z, v.w};
  }

 private:
  static HIPSHARED_SMALL_STORAGE_4 pack(float2 low, float2 high) {
    return static_cast<HIPSHARED_SMALL_STORAGE_4>(
        hipshared::small_encode<HIPSHARED_SMALL_FORMAT>(low, HIPSHARED_SMALL_BITS) |
        hipshared::small_encode<HIPSHARED_SMALL_FORMAT>(high, HIPSHARED_SMALL_BITS) << (2 * HIPSHARED_SMALL_BITS));
  }
};

HIPTARGET_HOST_DEVICE_END

#undef HIPSHARED_SMALL_NAME
#undef HIPSHARED_SMALL_FORMAT
#undef HIPSHARED_SMALL_FIRST
#undef HIPSHARED_SMALL_SECOND
