// The common part of the headers of four-bit and six-bit numbers. The numbers of a vector are `bits` apart.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hipshared/minifloat.h>

// Everything rounds to the nearest, ties to even, whatever the argument says.
enum hipRoundMode {
  hipRoundNearest = 0,
  hipRoundZero = 1,
  hipRoundPosInf = 2,
  hipRoundMinInf = 3,
};

HIPTARGET_HOST_DEVICE_BEGIN

namespace hipshared {

template <class Format>
inline unsigned small_encode(float2 v, int bits) {
  return Format::encode(v.x, true) | Format::encode(v.y, true) << bits;
}

template <class Format>
inline float2 small_decode(unsigned codes, int bits) {
  return {Format::decode(codes & ((1u << bits) - 1)), Format::decode(codes >> bits & ((1u << bits) - 1))};
}

inline float2 as_floats(float2 v) { return v; }
inline float2 as_floats(double2 v) { return {static_cast<float>(v.x), static_cast<float>(v.y)}; }
inline float2 as_floats(__half2 v) { return __half22float2(v); }
inline float2 as_floats(__hip_bfloat162 v) { return __bfloat1622float2(v); }

}  // namespace hipshared

HIPTARGET_HOST_DEVICE_END
