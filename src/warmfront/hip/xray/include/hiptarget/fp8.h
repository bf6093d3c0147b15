// Conversions of fp8 on a GPU: one instruction, in the family of formats that the GPU has.
#pragma once

#include <hipshared/minifloat.h>

#define HIPTARGET_FP8_BOTH __host__ __device__ inline
#define HIPTARGET_FP8_NOTHING(...)
#define HIPTARGET_FP8_REFUSE(reason, ...) __device__ __attribute__((unavailable(reason))) __VA_ARGS__;

#if defined(__gfx950__)
#define HIPTARGET_FP8_OCP HIPTARGET_FP8_BOTH
#define HIPTARGET_FP8_OCP_MISSING HIPTARGET_FP8_NOTHING
#define HIPTARGET_FP8_FNUZ __host__ inline
#define HIPTARGET_FP8_FNUZ_MISSING(...) \
  HIPTARGET_FP8_REFUSE("device code for gfx950 has the OCP formats of fp8 only; use __hip_fp8_e4m3 or __hip_fp8_e5m2", __VA_ARGS__)
#define HIPTARGET_FP8_CHECK(format) \
  __attribute__((diagnose_if(format == __HIP_E4M3_FNUZ || format == __HIP_E5M2_FNUZ, \
                             "device code for gfx950 has the OCP formats of fp8 only; use __HIP_E4M3 or __HIP_E5M2", "error")))
#elif defined(__gfx942__)
#define HIPTARGET_FP8_CHECK(format) \
  __attribute__((diagnose_if( \
      format == __HIP_E4M3 || format == __HIP_E5M2, \
      "device code for gfx942 has the FNUZ formats of fp8 only; use __HIP_E4M3_FNUZ or __HIP_E5M2_FNUZ", "error")))
#define HIPTARGET_FP8_FNUZ HIPTARGET_FP8_BOTH
#define HIPTARGET_FP8_FNUZ_MISSING HIPTARGET_FP8_NOTHING
#define HIPTARGET_FP8_OCP __host__ inline
#define HIPTARGET_FP8_OCP_MISSING(...) \
  HIPTARGET_FP8_REFUSE("device code for gfx942 has the FNUZ formats of fp8 only; use __hip_fp8_e4m3_fnuz or __hip_fp8_e5m2_fnuz", __VA_ARGS__)
#else  // the host, and GPUs that have neither
#define HIPTARGET_FP8_FNUZ HIPTARGET_FP8_BOTH
#define HIPTARGET_FP8_FNUZ_MISSING HIPTARGET_FP8_NOTHING
#define HIPTARGET_FP8_OCP HIPTARGET_FP8_BOTH
#define HIPTARGET_FP8_OCP_MISSING HIPTARGET_FP8_NOTHING
#endif

#pragma clang force_cuda_host_device begin

namespace xray {

#define XRAY_HAS_FP8 (defined(__gfx942__) || defined(__gfx950__))
#if defined(__gfx942__)
template <class Format>
inline constexpr bool kIsNative = Format::kOverflow == Format::kSign;  // FNUZ
#elif defined(__gfx950__)
template <class Format>
inline constexpr bool kIsNative = Format::kOverflow != Format::kSign;
#else
template <class Format>
inline constexpr bool kIsNative = false;
#endif

template <class Format>
inline constexpr bool kHasThreeDigits = Format::kShift == 20;  // e4m3, which the instructions call fp8; e5m2 is bf8

template <class Format>
inline float fp8_decode(unsigned code) {
#if XRAY_HAS_FP8
  if constexpr (kIsNative<Format>) {
    if constexpr (kHasThreeDigits<Format>) return __builtin_amdgcn_cvt_f32_fp8(static_cast<int>(code), 0);
    return __builtin_amdgcn_cvt_f32_bf8(static_cast<int>(code), 0);
  }
#endif
  return Format::decode(code);
}

template <class Format>
inline float2 fp8_decode_pair(unsigned codes) {
#if XRAY_HAS_FP8
  if constexpr (kIsNative<Format>) {
    const auto both = kHasThreeDigits<Format> ? __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(codes), false)
                                              : __builtin_amdgcn_cvt_pk_f32_bf8(static_cast<int>(codes), false);
    return {both[0], both[1]};
  }
#endif
  return {Format::decode(codes & 0xff), Format::decode(codes >> 8)};
}

// The instruction does not saturate, and converts an infinity to a NaN.
template <class Format>
inline float clamp_to(float x, bool saturate) {
  constexpr float kMax = Format::decode(Format::kMax);
#if XRAY_HAS_FP8
  if (saturate && __builtin_fabsf(x) < HUGE_VALF) return __builtin_amdgcn_fmed3f(x, kMax, -kMax);
#endif
  return x;
}

template <class Format>
inline unsigned fp8_encode_pair(float2 v, bool saturate) {
#if XRAY_HAS_FP8
  if constexpr (kIsNative<Format>) {
    const float x = clamp_to<Format>(v.x, saturate), y = clamp_to<Format>(v.y, saturate);
    const int both = kHasThreeDigits<Format> ? __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false)
                                             : __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false);
    return static_cast<unsigned>(both) & 0xffff;
  }
#endif
  return Format::encode(v.x, saturate) | Format::encode(v.y, saturate) << 8;
}

template <class Format>
inline unsigned fp8_encode(float x, bool saturate) {
  if constexpr (kIsNative<Format>) return fp8_encode_pair<Format>({x, x}, saturate) & 0xff;
  return Format::encode(x, saturate);
}

}  // namespace xray

#pragma clang force_cuda_host_device end
