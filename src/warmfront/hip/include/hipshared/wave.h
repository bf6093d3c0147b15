// Barriers, votes and shuffles of a wave, in terms of what the target provides in namespace hiptarget:
//
//   wait_for_block(line)            a barrier for the block
//   count_in_block(predicate, line) a barrier that returns how many threads passed `true`
//   vote(predicate, line)           the lanes that passed `true`, as a mask of 64 bits
//   shuffle(value, source, line)    the value that the lane `source` passed
//   is_lane_mask<Mask>              whether the type is accepted as a mask by the *_sync functions
//
// and __lane_id. Every function takes its caller's line as a hidden default argument. The CPU runtime needs it:
// lanes meet when they wait at the same line for the same kind of operation, which keeps lanes on two sides of
// a branch apart. On a GPU it is unused and costs nothing.
#pragma once

#include <type_traits>

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
__device__ static inline unsigned long long __activemask(int line = __builtin_LINE()) {
  return hiptarget::vote(true, line);
}
__device__ static inline int __any(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate != 0, line) != 0;
}
__device__ static inline int __all(int predicate, int line = __builtin_LINE()) {
  return hiptarget::vote(predicate == 0, line) == 0;
}

// Shuffles. A wave is divided into groups of `width` lanes; a lane whose source is outside its group gets its
// own value.

template <class T>
__device__ static inline T __shfl(T value, int source, int width = warpSize, int line = __builtin_LINE()) {
  const int group = static_cast<int>(__lane_id()) & -width;
  return hiptarget::shuffle(value, group | (source & (width - 1)), line);
}
template <class T>
__device__ static inline T __shfl_up(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE()) {
  const unsigned lane = __lane_id();
  return hiptarget::shuffle(value, (lane & (width - 1)) < delta ? lane : lane - delta, line);
}
template <class T>
__device__ static inline T __shfl_down(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE()) {
  const unsigned lane = __lane_id();
  const bool outside = (lane & (width - 1)) + delta >= static_cast<unsigned>(width);
  return hiptarget::shuffle(value, outside ? lane : lane + delta, line);
}
template <class T>
__device__ static inline T __shfl_xor(T value, int mask, int width = warpSize, int line = __builtin_LINE()) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane ^ mask;
  return hiptarget::shuffle(value, source >= ((lane + width) & -width) ? lane : source, line);
}

#define HIPSHARED_CHECK_MASK(Mask)          \
  static_assert(hiptarget::is_lane_mask<Mask>, \
                "a wave has 64 lanes, so its mask has 64 bits: write 0xffffffffffffffffull for all of them")

template <class Mask, class T>
__device__ static inline T __shfl_sync(Mask, T value, int source, int width = warpSize, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl(value, source, width, line);
}
template <class Mask, class T>
__device__ static inline T __shfl_up_sync(Mask, T value, unsigned delta, int width = warpSize,
                                          int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_up(value, delta, width, line);
}
template <class Mask, class T>
__device__ static inline T __shfl_down_sync(Mask, T value, unsigned delta, int width = warpSize,
                                            int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_down(value, delta, width, line);
}
template <class Mask, class T>
__device__ static inline T __shfl_xor_sync(Mask, T value, int mask, int width = warpSize, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __shfl_xor(value, mask, width, line);
}
