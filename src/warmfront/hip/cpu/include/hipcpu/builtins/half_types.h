// The 16-bit types of clang for AMD GPUs that g++ does not have: __bf16, which g++ has from version 13 on, and __fp16.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <hipcpu/ext_vector.h>

#if !defined(__clang__) && defined(__x86_64__)
using __fp16 = _Float16;
#endif

#ifndef __clang__
#if __GNUC__ < 13

// Each operation is computed as float and rounded once, to the nearest, ties to even.
struct __bf16 {
  uint16_t bits;

  __bf16() = default;
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, _Float16>)
  constexpr __bf16(T value) : bits(round(static_cast<float>(value))) {}
  constexpr operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

  template <class T>
  constexpr __bf16& operator+=(T other) { return *this = *this + __bf16(other); }
  template <class T>
  constexpr __bf16& operator-=(T other) { return *this = *this - __bf16(other); }
  template <class T>
  constexpr __bf16& operator*=(T other) { return *this = *this * __bf16(other); }
  template <class T>
  constexpr __bf16& operator/=(T other) { return *this = *this / __bf16(other); }
  friend constexpr __bf16 operator+(__bf16 a, __bf16 b) { return float(a) + float(b); }
  friend constexpr __bf16 operator-(__bf16 a, __bf16 b) { return float(a) - float(b); }
  friend constexpr __bf16 operator*(__bf16 a, __bf16 b) { return float(a) * float(b); }
  friend constexpr __bf16 operator/(__bf16 a, __bf16 b) { return float(a) / float(b); }

 private:
  static constexpr uint16_t round(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    if (value != value) return static_cast<uint16_t>(word >> 16 | 0x40);
    return static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
};

#endif

template <>
inline constexpr bool hipcpu::is_scalar<__bf16> = true;
#endif
