// Minimum and maximum of a number and warpSize, which is not a number but converts to one.
#pragma once

#include <type_traits>

#define HIPSHARED_WITH_WAVE_SIZE(name)                                                            \
  template <class T>                                                                              \
    requires std::is_arithmetic_v<T>                                                              \
  __device__ static inline auto name(T x, std::remove_cv_t<decltype(warpSize)> lanes) {           \
    return name(x, static_cast<int>(lanes));                                                      \
  }                                                                                               \
  template <class T>                                                                              \
    requires std::is_arithmetic_v<T>                                                              \
  __device__ static inline auto name(std::remove_cv_t<decltype(warpSize)> lanes, T x) {           \
    return name(static_cast<int>(lanes), x);                                                      \
  }
HIPSHARED_WITH_WAVE_SIZE(min)
HIPSHARED_WITH_WAVE_SIZE(max)
#undef HIPSHARED_WITH_WAVE_SIZE
