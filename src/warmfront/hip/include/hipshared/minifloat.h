// Floating-point formats of at most eight bits: from codes to float, and from float to codes.
//
// Each format is sign, exponent and mantissa, from the highest bit down. Formats differ in their codes other
// than finite numbers: FNUZ has one zero and one NaN (the code of -0), OCP's e4m3 has a NaN of each sign and
// no infinity, OCP's e5m2 is like IEEE 754, and those of four and six bits have finite numbers only.
#pragma once

#include <hiptarget/core.h>

HIPTARGET_HOST_DEVICE_BEGIN

namespace hipshared {

enum class Specials { kFnuz, kNanOnly, kIeee, kNone };

template <int kExponentBits, int kMantissaBits, int kBias, Specials kSpecials>
struct Minifloat {
  static constexpr int kShift = 23 - kMantissaBits;  // the bits of a float's mantissa that are lost
  static constexpr unsigned kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr unsigned kMagnitude = kSign - 1;
  // The largest finite number, and what a number beyond it becomes without saturation.
  static constexpr unsigned kMax = kSpecials == Specials::kNanOnly ? kMagnitude - 1
                                   : kSpecials == Specials::kIeee  ? kMagnitude - (1u << kMantissaBits)
                                                                   : kMagnitude;
  static constexpr unsigned kOverflow = kSpecials == Specials::kFnuz ? kSign : kSpecials == Specials::kNone ? kMax : kMax + 1;

  static constexpr bool is_nan(unsigned code) {
    if constexpr (kSpecials == Specials::kFnuz) return code == kSign;
    if constexpr (kSpecials == Specials::kNanOnly) return (code & kMagnitude) == kMagnitude;
    if constexpr (kSpecials == Specials::kIeee) return (code & kMagnitude) > kMax + 1;
    return false;
  }

  static constexpr float decode(unsigned code) {
    const unsigned magnitude = code & kMagnitude, sign = (code & kSign) != 0 ? 0x80000000u : 0;
    if (is_nan(code)) return __builtin_bit_cast(float, 0x7fc00000u);
    if (kSpecials == Specials::kIeee && magnitude > kMax) return __builtin_bit_cast(float, sign | 0x7f800000u);
    // Below the smallest normal number, the mantissa counts units of the last place.
    constexpr float kUnit = __builtin_bit_cast(float, static_cast<unsigned>(128 - kBias - kMantissaBits) << 23);
    const unsigned normal = (magnitude << kShift) + (static_cast<unsigned>(127 - kBias) << 23);
    const unsigned subnormal = __builtin_bit_cast(unsigned, static_cast<float>(static_cast<int>(magnitude)) * kUnit);
    return __builtin_bit_cast(float, sign | (magnitude >> kMantissaBits != 0 ? normal : subnormal));
  }

  // Rounds to the nearest, ties to even. A number that is too large after rounding becomes the largest finite number if
  // `saturate`, and otherwise infinity or NaN, whichever the format has. An infinity never becomes finite, except in
  // formats that have no other numbers.
  static constexpr unsigned encode(float x, bool saturate) {
    const unsigned magnitude = __builtin_bit_cast(unsigned, x) & 0x7fffffffu;
    constexpr unsigned kSmallestNormal = static_cast<unsigned>(128 - kBias) << 23;
    constexpr float kLastPlace = __builtin_bit_cast(float, static_cast<unsigned>(151 - kBias - kMantissaBits) << 23);
    // Adding a number whose last place is that of the format's subnormal numbers rounds to it.
    const unsigned small = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, magnitude) + kLastPlace) -
                           __builtin_bit_cast(unsigned, kLastPlace);
    const unsigned rebiased = magnitude - (static_cast<unsigned>(127 - kBias) << 23);
    const unsigned large = (rebiased + (1u << (kShift - 1)) - 1 + (rebiased >> kShift & 1)) >> kShift;
    return finish(x, magnitude < kSmallestNormal ? small : large, saturate);
  }

  // Adds the highest bits of `random` below the last place, and truncates. As with v_cvt_sr_fp8_f32, a number below the
  // smallest normal one is first truncated to the digits of a normal one.
  static constexpr unsigned encode_stochastic(float x, unsigned random) {
    const unsigned magnitude = __builtin_bit_cast(unsigned, x) & 0x7fffffffu;
    const unsigned added = random >> (32 - kShift);
    const int below = 128 - kBias - static_cast<int>(magnitude >> 23);
    if (below <= 0) return finish(x, (magnitude - (static_cast<unsigned>(127 - kBias) << 23) + added) >> kShift, false);
    const unsigned kept = ((magnitude & 0x7fffffu) | 0x800000u) >> kShift << kShift;
    return finish(x, ((below < 32 ? kept >> below : 0) + added) >> kShift, false);
  }

 private:
  static constexpr unsigned finish(float x, unsigned rounded, bool saturate) {
    const unsigned bits = __builtin_bit_cast(unsigned, x), magnitude = bits & 0x7fffffffu;
    const unsigned sign = kSpecials == Specials::kFnuz && rounded == 0 ? 0 : (bits >> 31) * kSign;
    if (magnitude > 0x7f800000u) return kSpecials == Specials::kFnuz ? kSign : sign | kMagnitude;
    if (magnitude == 0x7f800000u || rounded > kMax)
      return saturate && magnitude != 0x7f800000u ? sign | kMax : sign | kOverflow;
    return sign | rounded;
  }
};

using E4m3Fnuz = Minifloat<4, 3, 8, Specials::kFnuz>;
using E5m2Fnuz = Minifloat<5, 2, 16, Specials::kFnuz>;
using E4m3 = Minifloat<4, 3, 7, Specials::kNanOnly>;
using E5m2 = Minifloat<5, 2, 15, Specials::kIeee>;
using E2m1 = Minifloat<2, 1, 1, Specials::kNone>;
using E2m3 = Minifloat<2, 3, 1, Specials::kNone>;
using E3m2 = Minifloat<3, 2, 3, Specials::kNone>;

// A scale of eight bits, e8m0: the power of two 2^(code - 127); 255 is NaN.
inline float decode_scale(unsigned char code) {
  if (code == 255) return __builtin_bit_cast(float, 0x7fc00000u);
  return __builtin_bit_cast(float, code == 0 ? 0x00400000u : static_cast<unsigned>(code) << 23);
}

// The nearest power of two, the larger of two that are equally near; NaN for what has none.
inline unsigned char encode_scale(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  if (bits == 0 || bits >= 0x7f800000u) return 255;
  if (bits < 0x00800000u) return bits > 0x00400000u;  // between the two smallest, up
  return static_cast<unsigned char>((bits + 0x00400000u) >> 23);
}

// A float whose last bit is set if digits of the double were lost, so that rounding it again does no harm.
inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || x != x) return nearest;
  unsigned bits = __builtin_bit_cast(unsigned, nearest);
  const double magnitude = x < 0 ? -x : x;
  if (static_cast<double>(nearest < 0 ? -nearest : nearest) > magnitude) --bits;
  return __builtin_bit_cast(float, bits | 1);
}

}  // namespace hipshared

HIPTARGET_HOST_DEVICE_END
