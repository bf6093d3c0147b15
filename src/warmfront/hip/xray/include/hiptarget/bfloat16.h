// __hip_bfloat16 as clang's own __bf16.
#pragma once

#include <hiptarget/narrow.h>

#pragma clang force_cuda_host_device begin

struct __hip_bfloat16_raw {
  unsigned short x;
};

struct __hip_bfloat16 : xray::Narrow<__hip_bfloat16> {
  __bf16 native;

  __hip_bfloat16() = default;
  template <class T>
    requires(std::is_arithmetic_v<T> && sizeof(T) <= (std::is_integral_v<T> ? 4 : 8))
  __hip_bfloat16(T x) : native(static_cast<__bf16>(x)) {}
  __hip_bfloat16(__bf16 x) : native(x) {}
  template <class T>
    requires(std::is_integral_v<T> && sizeof(T) == 8)
  __hip_bfloat16(T) = delete;  // ambiguous in HIP
  __hip_bfloat16(__hip_bfloat16_raw raw) : native(__builtin_bit_cast(__bf16, raw.x)) {}

  constexpr operator float() const { return static_cast<float>(native); }
  operator __hip_bfloat16_raw() const { return {__builtin_bit_cast(unsigned short, native)}; }
};

#pragma clang force_cuda_host_device end
