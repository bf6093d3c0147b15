// Barriers, votes and shuffles of a wave, in terms of what the target provides in namespace hiptarget:
//
//   wait_for_block(line)            a barrier for the block
//   count_in_block(predicate, line) a barrier that returns how many threads passed `true`
//   vote(predicate, line)           the lanes that passed `true`, as a mask of 64 bits
//   shuffle(value, source, line)    the value that the lane `source` passed
//
// and __lane_id. Every function takes its caller's line as a hidden default argument. The CPU runtime needs it:
// lanes meet when they wait at the same line for the same kind of operation, which keeps lanes on two sides of
// a branch apart. On a GPU it is unused and costs nothing.
#pragma once

#include <type_traits>

namespace hipshared {

// The types that can be shuffled: numbers, and the 16-bit types, whose headers add themselves.
template <class T>
inline constexpr bool can_shuffle = std::is_arithmetic_v<T> && sizeof(T) <= 8;

// The types that only ROCm 7 shuffles.
template <class T>
inline constexpr bool needs_rocm_7_to_shuffle = false;

// The types that can be matched.
template <class T>
inline constexpr bool can_match = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

}  // namespace hipshared

#define HIPSHARED_CHECK_MASK(Mask)                              \
  static_assert(std::is_integral_v<Mask> && sizeof(Mask) == 8, \
                "a wave has 64 lanes, so its mask has 64 bits: write 0xffffffffffffffffull for all of them")
#define HIPSHARED_CHECK_MATCH(T) \
  static_assert(hipshared::can_match<T>, "only numbers of 4 or 8 bytes can be matched")

// Barriers

__device__ static inline __attribute__((always_inline)) void __syncthreads(int line = __builtin_LINE()) {
  hiptarget::wait_for_block(line);
}
__device__ static inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return static_cast<int>(hiptarget::count_in_block(predicate != 0, line));
}
__device__ static inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return hiptarget::count_in_block(predicate == 0, line) == 0;
}
__device__ static inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return hiptarget::count_in_block(predicate != 0, line) != 0;
}

// Votes

__device__ static inline unsigned long long __ballot(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate != 0, line);
}
__device__ static inline unsigned long long __ballot64(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate != 0, line);
}
__device__ static inline unsigned long long __activemask(int line = __builtin_LINE()) {
  return hiptarget::vote(true, line);
}
__device__ static inline int __any(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate != 0, line) != 0;
}
__device__ static inline int __all(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate == 0, line) == 0;
}

// The lanes below this one, above it, and this one itself.

__device__ static inline unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
__device__ static inline unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
__device__ static inline unsigned long long __lanemask_gt() { return ~__lanemask_lt() & ~__lanemask_eq(); }

// Shuffles. A wave is divided into groups of `width` lanes; a lane whose source is outside its group gets its
// own value.

template <class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl(T value, int source, int width = warpSize, int line = __builtin_LINE())
    HIPTARGET_NEEDS_ROCM_7_IF(hipshared::needs_rocm_7_to_shuffle<T>) {
  const int group = static_cast<int>(__lane_id()) & -width;
  return hiptarget::shuffle(value, group | (source & (width - 1)), line);
}
template <class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_up(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE())
    HIPTARGET_NEEDS_ROCM_7_IF(hipshared::needs_rocm_7_to_shuffle<T>) {
  const unsigned lane = __lane_id();
  return hiptarget::shuffle(value, (lane & (width - 1)) < delta ? lane : lane - delta, line);
}
template <class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_down(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE())
    HIPTARGET_NEEDS_ROCM_7_IF(hipshared::needs_rocm_7_to_shuffle<T>) {
  const unsigned lane = __lane_id();
  const bool outside = (lane & (width - 1)) + delta >= static_cast<unsigned>(width);
  return hiptarget::shuffle(value, outside ? lane : lane + delta, line);
}
template <class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_xor(T value, int mask, int width = warpSize, int line = __builtin_LINE())
    HIPTARGET_NEEDS_ROCM_7_IF(hipshared::needs_rocm_7_to_shuffle<T>) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane ^ mask;
  return hiptarget::shuffle(value, source >= ((lane + width) & -width) ? lane : source, line);
}

template <class Mask, class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_sync(Mask, T value, int source, int width = warpSize, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl(value, source, width, line);
}
template <class Mask, class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_up_sync(Mask, T value, unsigned delta, int width = warpSize,
                                          int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_up(value, delta, width, line);
}
template <class Mask, class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_down_sync(Mask, T value, unsigned delta, int width = warpSize,
                                            int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_down(value, delta, width, line);
}
template <class Mask, class T>
  requires hipshared::can_shuffle<T>
__device__ static inline T __shfl_xor_sync(Mask, T value, int mask, int width = warpSize, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_xor(value, mask, width, line);
}

// Reductions over the lanes of a mask; every lane gets the result.

namespace hipshared {

template <class Mask, class T, class Op>
__device__ inline T reduce_lanes(Mask mask, T value, Op op, int line) {
  HIPSHARED_CHECK_MASK(Mask);
  if (static_cast<unsigned long long>(mask) == ~0ull) {
    for (unsigned distance = 1; distance < 64; distance *= 2)
      value = op(value, hiptarget::shuffle(value, __lane_id() ^ distance, line));
    return value;
  }
  auto rest = static_cast<unsigned long long>(mask);
  T result = hiptarget::shuffle(value, static_cast<unsigned>(__builtin_ctzll(rest)), line);
  while ((rest &= rest - 1) != 0)
    result = op(result, hiptarget::shuffle(value, static_cast<unsigned>(__builtin_ctzll(rest)), line));
  return result;
}

}  // namespace hipshared

#define HIPSHARED_REDUCE(name, type, expression)                                                    \
  template <class Mask>                                                                             \
  __device__ static inline type name(Mask mask, type value, int line = __builtin_LINE()) \
  HIPTARGET_NEEDS_ROCM_7 { \
    return hipshared::reduce_lanes(mask, value, [](type a, type b) -> type { return expression; }, line); \
  }
HIPSHARED_REDUCE(__reduce_add_sync, int, a + b)
HIPSHARED_REDUCE(__reduce_add_sync, unsigned, a + b)
HIPSHARED_REDUCE(__reduce_min_sync, int, a < b ? a : b)
HIPSHARED_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
HIPSHARED_REDUCE(__reduce_max_sync, int, a > b ? a : b)
HIPSHARED_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
HIPSHARED_REDUCE(__reduce_and_sync, unsigned, a & b)
HIPSHARED_REDUCE(__reduce_or_sync, unsigned, a | b)
HIPSHARED_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef HIPSHARED_REDUCE
