// Conversions between float and fp8 in a lane. "fp8" is e4m3 and "bf8" is e5m2: FNUZ on gfx942, OCP on gfx950.
//
// A number that is too large becomes NaN: hipcc leaves MODE.FP16_OVFL at 0, with which the instructions do not saturate.
#pragma once

#include <hipcpu/builtins/words.h>
#include <hipcpu/matrix_forms.h>
#include <hipshared/minifloat.h>

namespace hipcpu {

// The byte of a word that is read or written.
struct ByteSelector {
  int value;
  consteval ByteSelector(int given) : value(given) {
    if (given < 0 || given > 3) rejected_byte_selector();
  }
};

template <class Format>
inline float fp8_of_byte(int word, ByteSelector byte) {
  return Format::decode(static_cast<unsigned>(word) >> (8 * byte.value) & 0xff);
}

template <class Format>
inline Float32x2 fp8_of_half(int word, bool high) {
  const unsigned half = static_cast<unsigned>(word) >> (high ? 16 : 0);
  return {Format::decode(half & 0xff), Format::decode(half >> 8 & 0xff)};
}

// The other bits are those of `old`.
template <class Format>
inline int fp8_to_half(float x, float y, int old, bool high) {
  const unsigned pair = Format::encode(x, false) | Format::encode(y, false) << 8;
  const unsigned kept = static_cast<unsigned>(old);
  return static_cast<int>(high ? (kept & 0xffff) | pair << 16 : (kept & 0xffff0000u) | pair);
}

template <class Format>
inline int fp8_to_byte(float x, int random, int old, ByteSelector byte) {
  const unsigned code = Format::encode_stochastic(x, static_cast<unsigned>(random));
  const int shift = 8 * byte.value;
  return static_cast<int>((static_cast<unsigned>(old) & ~(0xffu << shift)) | code << shift);
}

}  // namespace hipcpu

#define HIPCPU_FP8_BUILTINS(name, Format) \
  static inline float __builtin_amdgcn_cvt_f32_##name(int word, hipcpu::ByteSelector byte) { \
    return hipcpu::fp8_of_byte<hipshared::Format>(word, byte); \
  } \
  static inline hipcpu::Float32x2 __builtin_amdgcn_cvt_pk_f32_##name(int word, hipcpu::Constant high) { \
    return hipcpu::fp8_of_half<hipshared::Format>(word, high != 0); \
  } \
  static inline int __builtin_amdgcn_cvt_pk_##name##_f32(float x, float y, int old, hipcpu::Constant high) { \
    return hipcpu::fp8_to_half<hipshared::Format>(x, y, old, high != 0); \
  } \
  static inline int __builtin_amdgcn_cvt_sr_##name##_f32(float x, int random, int old, hipcpu::ByteSelector byte) { \
    return hipcpu::fp8_to_byte<hipshared::Format>(x, random, old, byte); \
  }
#ifdef HIPCPU_GFX950
HIPCPU_FP8_BUILTINS(fp8, E4m3)
HIPCPU_FP8_BUILTINS(bf8, E5m2)
#else
HIPCPU_FP8_BUILTINS(fp8, E4m3Fnuz)
HIPCPU_FP8_BUILTINS(bf8, E5m2Fnuz)
#endif
#undef HIPCPU_FP8_BUILTINS
