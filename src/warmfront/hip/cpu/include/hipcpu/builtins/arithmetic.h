// Builtins that compute with one lane's registers: bits, bytes, dot products, conversions, special functions.
#pragma once

#include <cmath>
#include <limits>

#include <hipcpu/builtins/words.h>
#include <hipcpu/math.h>

// Bits

static inline unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
static inline unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> 8 * (shift & 3));
}
static inline unsigned __builtin_amdgcn_ubfe(unsigned value, unsigned offset, unsigned width) {
  return value >> (offset & 31) & ((1u << (width & 31)) - 1);
}
static inline int __builtin_amdgcn_sbfe(int value, unsigned offset, unsigned width) {
  offset &= 31;
  width &= 31;
  if (width == 0) return 0;
  if (offset + width >= 32) return value >> offset;
  return static_cast<int>(static_cast<unsigned>(value) << (32 - offset - width)) >> (32 - width);
}

// Each byte of the selector names a byte of {high, low}, a sign, 0x00 or 0xff.
static inline unsigned __builtin_amdgcn_perm(unsigned high, unsigned low, unsigned selector) {
  const uint64_t source = uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned which = selector >> 8 * i & 0xff;
    unsigned byte = 0;
    if (which < 8) byte = static_cast<unsigned>(source >> 8 * which) & 0xff;
    else if (which < 12) byte = source >> (16 * (which - 8) + 15) & 1 ? 0xff : 0;
    else if (which > 12) byte = 0xff;
    result |= byte << 8 * i;
  }
  return result;
}

static inline unsigned __builtin_amdgcn_lerp(unsigned a, unsigned b, unsigned round) {
  unsigned result = 0;
  for (unsigned i = 0; i < 32; i += 8)
    result |= ((a >> i & 0xff) + (b >> i & 0xff) + (round >> i & 1)) >> 1 << i;
  return result;
}

// Sums of absolute differences

namespace hipcpu {

constexpr unsigned distance(unsigned a, unsigned b) { return a > b ? a - b : b - a; }
constexpr unsigned byte_of(uint64_t value, unsigned i) { return static_cast<unsigned>(value >> 8 * i) & 0xff; }

// With `masked`, bytes of the reference that are 0 do not count.
constexpr unsigned sum_of_distances(unsigned value, unsigned reference, bool masked) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (!masked || byte_of(reference, i)) sum += distance(byte_of(value, i), byte_of(reference, i));
  return sum;
}
constexpr uint64_t four_sums(uint64_t value, unsigned reference, uint64_t add, bool masked) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned sum = sum_of_distances(static_cast<unsigned>(value >> 8 * i), reference, masked);
    const unsigned total = sum + (static_cast<unsigned>(add >> 16 * i) & 0xffff);
    result |= uint64_t{total < 0xffff ? total : 0xffff} << 16 * i;  // saturates
  }
  return result;
}

}  // namespace hipcpu

static inline unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b, unsigned add) {
  return hipcpu::sum_of_distances(a, b, false) + add;
}
static inline unsigned __builtin_amdgcn_msad_u8(unsigned a, unsigned reference, unsigned add) {
  return hipcpu::sum_of_distances(a, reference, true) + add;
}
static inline unsigned __builtin_amdgcn_sad_hi_u8(unsigned a, unsigned b, unsigned add) {
  return (hipcpu::sum_of_distances(a, b, false) << 16) + add;
}
static inline unsigned __builtin_amdgcn_sad_u16(unsigned a, unsigned b, unsigned add) {
  return hipcpu::distance(a & 0xffff, b & 0xffff) + hipcpu::distance(a >> 16, b >> 16) + add;
}
static inline uint64_t __builtin_amdgcn_qsad_pk_u16_u8(uint64_t a, unsigned reference, uint64_t add) {
  return hipcpu::four_sums(a, reference, add, false);
}
static inline uint64_t __builtin_amdgcn_mqsad_pk_u16_u8(uint64_t a, unsigned reference, uint64_t add) {
  return hipcpu::four_sums(a, reference, add, true);
}

// Dot products. `clamp` saturates the sum.

namespace hipcpu {

template <unsigned Bits, bool Signed>
constexpr int64_t element_of(uint32_t word, unsigned i) {
  const uint32_t raw = word >> Bits * i & ((1u << Bits) - 1);
  return Signed && raw >> (Bits - 1) ? int64_t{raw} - (int64_t{1} << Bits) : int64_t{raw};
}

template <unsigned Bits, bool Signed>
constexpr uint32_t dot(uint32_t a, uint32_t b, uint32_t add, bool clamp) {
  int64_t sum = Signed ? int64_t{static_cast<int32_t>(add)} : int64_t{add};
  for (unsigned i = 0; i < 32 / Bits; ++i) sum += element_of<Bits, Signed>(a, i) * element_of<Bits, Signed>(b, i);
  const int64_t least = Signed ? INT32_MIN : 0, most = Signed ? int64_t{INT32_MAX} : int64_t{UINT32_MAX};
  return static_cast<uint32_t>(!clamp ? sum : sum < least ? least : sum > most ? most : sum);
}

inline float half_of(uint32_t word, unsigned i) {
  _Float16 value;
  const auto bits = static_cast<uint16_t>(word >> 16 * i);
  __builtin_memcpy(&value, &bits, 2);
  return static_cast<float>(value);
}

}  // namespace hipcpu

template <class A, class B>
HIPCPU_BUILTIN_TEMPLATE int __builtin_amdgcn_sdot2(const A& a, const B& b, int add, hipcpu::Constant clamp) {
  return static_cast<int>(
      hipcpu::dot<16, true>(hipcpu::low_word(a), hipcpu::low_word(b), static_cast<unsigned>(add), clamp != 0));
}
template <class A, class B>
HIPCPU_BUILTIN_TEMPLATE unsigned __builtin_amdgcn_udot2(const A& a, const B& b, unsigned add, hipcpu::Constant clamp) {
  return hipcpu::dot<16, false>(hipcpu::low_word(a), hipcpu::low_word(b), add, clamp != 0);
}
#define HIPCPU_DOT(name, bits, is_signed, T)                                                                   \
  static inline T __builtin_amdgcn_##name(T a, T b, T add, hipcpu::Constant clamp) {                           \
    return static_cast<T>(hipcpu::dot<bits, is_signed>(static_cast<unsigned>(a), static_cast<unsigned>(b),     \
                                                       static_cast<unsigned>(add), clamp != 0));               \
  }
HIPCPU_DOT(sdot4, 8, true, int)
HIPCPU_DOT(udot4, 8, false, unsigned)
HIPCPU_DOT(sdot8, 4, true, int)
HIPCPU_DOT(udot8, 4, false, unsigned)
#undef HIPCPU_DOT

// The products are exact; how the GPU rounds their sum is not documented. Here it is rounded once.
template <class A, class B>
HIPCPU_BUILTIN_TEMPLATE float __builtin_amdgcn_fdot2(const A& a, const B& b, float add, hipcpu::Constant clamp) {
  const uint32_t left = hipcpu::low_word(a), right = hipcpu::low_word(b);
  const double products = double{hipcpu::half_of(left, 0)} * hipcpu::half_of(right, 0) +
                          double{hipcpu::half_of(left, 1)} * hipcpu::half_of(right, 1);
  const auto sum = static_cast<float>(products + double{add});
  if (clamp == 0) return sum;
  return sum > 0 ? (sum < 1 ? sum : 1.0f) : 0.0f;
}

// Conversions to pairs of 16 bits

namespace hipcpu {

template <class T>
struct Pair {
  T x, y;
  T operator[](unsigned i) const { return i ? y : x; }
  template <class To>
    requires(std::is_trivially_copyable_v<To> && sizeof(To) == 4 && !std::is_arithmetic_v<To>)
  operator To() const {
    To value;
    __builtin_memcpy(&value, this, 4);
    return value;
  }
};

inline _Float16 half_toward_zero(float value) {
  auto nearest = static_cast<_Float16>(value);
  if (std::fabs(static_cast<float>(nearest)) <= std::fabs(value) || value != value) return nearest;
  uint16_t bits;
  __builtin_memcpy(&bits, &nearest, 2);
  --bits;
  __builtin_memcpy(&nearest, &bits, 2);
  return nearest;
}

template <class T, class From>
inline T saturate(From value) {
  constexpr From least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return static_cast<T>(value < least ? least : value > most ? most : value);
}

// NaN is 0.
template <class T>
inline T normalized(float value) {
  const float scaled = value * float{std::numeric_limits<T>::max()};
  const float least = std::is_signed_v<T> ? -float{std::numeric_limits<T>::max()} : 0.0f;
  if (!(scaled > least)) return scaled != scaled ? T(0) : static_cast<T>(least);
  return scaled < std::numeric_limits<T>::max() ? static_cast<T>(std::nearbyint(scaled)) : std::numeric_limits<T>::max();
}

}  // namespace hipcpu

static inline hipcpu::Pair<_Float16> __builtin_amdgcn_cvt_pkrtz(float x, float y) {
  return {hipcpu::half_toward_zero(x), hipcpu::half_toward_zero(y)};
}
static inline hipcpu::Pair<short> __builtin_amdgcn_cvt_pk_i16(int x, int y) {
  return {hipcpu::saturate<short>(x), hipcpu::saturate<short>(y)};
}
static inline hipcpu::Pair<unsigned short> __builtin_amdgcn_cvt_pk_u16(unsigned x, unsigned y) {
  return {hipcpu::saturate<unsigned short>(x), hipcpu::saturate<unsigned short>(y)};
}
static inline hipcpu::Pair<short> __builtin_amdgcn_cvt_pknorm_i16(float x, float y) {
  return {hipcpu::normalized<short>(x), hipcpu::normalized<short>(y)};
}
static inline hipcpu::Pair<unsigned short> __builtin_amdgcn_cvt_pknorm_u16(float x, float y) {
  return {hipcpu::normalized<unsigned short>(x), hipcpu::normalized<unsigned short>(y)};
}
static inline unsigned __builtin_amdgcn_cvt_pk_u8_f32(float value, unsigned byte, unsigned old) {
  const unsigned shift = 8 * (byte & 3);
  const float rounded = std::nearbyint(value);
  const unsigned converted = !(rounded > 0) ? 0 : rounded < 255 ? static_cast<unsigned>(rounded) : 255;
  return (old & ~(0xffu << shift)) | converted << shift;
}
static inline float __builtin_amdgcn_cvt_off_f32_i4(int value) {
  return static_cast<float>(static_cast<int>(static_cast<unsigned>(value) << 28) >> 28) / 16.0f;
}

// Numbers

namespace hipcpu {

inline float smaller_number(float a, float b) { return a != a || b < a ? b : a; }

}  // namespace hipcpu

// The median; the smallest number if one is NaN.
static inline float __builtin_amdgcn_fmed3f(float a, float b, float c) {
  using hipcpu::smaller_number;
  if (a != a || b != b || c != c) return smaller_number(smaller_number(a, b), smaller_number(b, c));
  return std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c));
}
static inline float __builtin_amdgcn_fractf(float value) {
  return std::fmin(value - std::floor(value), 0x1.fffffep-1f);
}
static inline double __builtin_amdgcn_fract(double value) {
  return std::fmin(value - std::floor(value), 0x1.fffffffffffffp-1);
}
static inline float __builtin_amdgcn_ldexpf(float value, int exponent) { return std::ldexp(value, exponent); }
static inline double __builtin_amdgcn_ldexp(double value, int exponent) { return std::ldexp(value, exponent); }
// In [0.5, 1); infinities and NaN are returned.
static inline float __builtin_amdgcn_frexp_mantf(float value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
static inline double __builtin_amdgcn_frexp_mant(double value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
static inline int __builtin_amdgcn_frexp_expf(float value) {
  int exponent = 0;
  if (std::isfinite(value)) (void)std::frexp(value, &exponent);
  return exponent;
}
static inline int __builtin_amdgcn_frexp_exp(double value) {
  int exponent = 0;
  if (std::isfinite(value)) (void)std::frexp(value, &exponent);
  return exponent;
}

namespace hipcpu {

// Which bit of a mask a number has: signaling NaN, NaN, then from -infinity to +infinity.
template <class F, class U, unsigned Digits>
inline unsigned class_of(F value) {
  U bits;
  __builtin_memcpy(&bits, &value, sizeof(F));
  const bool negative = bits >> (sizeof(F) * 8 - 1);
  if (value != value) return bits >> (Digits - 1) & 1 ? 1 : 0;
  const unsigned magnitude = std::isinf(value) ? 3 : value == 0 ? 0 : std::fabs(value) < std::numeric_limits<F>::min() ? 1 : 2;
  return negative ? 5 - magnitude : 6 + magnitude;
}

}  // namespace hipcpu

static inline bool __builtin_amdgcn_classf(float value, int mask) {
  return mask >> hipcpu::class_of<float, uint32_t, 23>(value) & 1;
}
static inline bool __builtin_amdgcn_class(double value, int mask) {
  return mask >> hipcpu::class_of<double, uint64_t, 52>(value) & 1;
}

// Special functions, which the GPU computes to about one unit in the last place.
static inline float __builtin_amdgcn_rcpf(float value) { return 1.0f / value; }
static inline double __builtin_amdgcn_rcp(double value) { return 1.0 / value; }
static inline float __builtin_amdgcn_sqrtf(float value) { return std::sqrt(value); }
static inline double __builtin_amdgcn_sqrt(double value) { return std::sqrt(value); }
static inline float __builtin_amdgcn_rsqf(float value) { return static_cast<float>(1.0 / std::sqrt(double{value})); }
static inline double __builtin_amdgcn_rsq(double value) { return 1.0 / std::sqrt(value); }
static inline float __builtin_amdgcn_exp2f(float value) { return std::exp2(value); }
static inline float __builtin_amdgcn_logf(float value) { return std::log2(value); }
// The argument is in revolutions.
static inline float __builtin_amdgcn_sinf(float value) {
  return static_cast<float>(std::sin(6.283185307179586 * std::fmod(double{value}, 1.0)));
}
static inline float __builtin_amdgcn_cosf(float value) {
  return static_cast<float>(std::cos(6.283185307179586 * std::fmod(double{value}, 1.0)));
}
