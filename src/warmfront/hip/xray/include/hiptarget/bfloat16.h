// __hip_bfloat16 as clang's own __bf16.
#pragma once

#include <hiptarget/narrow.h>

#pragma clang force_cuda_host_device begin

struct __hip_bfloat16_raw {
  unsigned short x;
};

struct __hip_bfloat16 : xray::Narrow<__hip_bfloat16> {
  __bf16 data;

  __hip_bfloat16() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr __hip_bfloat16(T x) : data(static_cast<__bf16>(x)) {}
  constexpr __hip_bfloat16(__bf16 x) : data(x) {}
  __hip_bfloat16(__hip_bfloat16_raw raw) : data(__builtin_bit_cast(__bf16, raw.x)) {}

  constexpr operator float() const { return static_cast<float>(data); }
  operator __hip_bfloat16_raw() const { return {__builtin_bit_cast(unsigned short, data)}; }
};

#pragma clang force_cuda_host_device end
