// Conversions of fp8 on the CPU, where host and device code are the same, so that both families exist.
#pragma once

#include <hipshared/minifloat.h>

#define HIPTARGET_FP8_FNUZ
#define HIPTARGET_FP8_OCP
#define HIPTARGET_FP8_FNUZ_MISSING(...)
#define HIPTARGET_FP8_OCP_MISSING(...)

namespace hipcpu {

template <class Format>
inline float fp8_decode(unsigned code) {
  return Format::decode(code);
}

template <class Format>
inline unsigned fp8_encode(float x, bool saturate) {
  return Format::encode(x, saturate);
}

template <class Format>
inline float2 fp8_decode_pair(unsigned codes) {
  return {Format::decode(codes & 0xff), Format::decode(codes >> 8)};
}

template <class Format>
inline unsigned fp8_encode_pair(float2 v, bool saturate) {
  return Format::encode(v.x, saturate) | Format::encode(v.y, saturate) << 8;
}

}  // namespace hipcpu
