// Barriers of a block, and what the 64 lanes of a wave do together: shuffles, votes, masks.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace xray {

__device__ inline unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Orders what came before the barrier before what comes after, for this block.
__device__ inline __attribute__((always_inline)) void wait_for_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Any plain value, word by word, from the lane `source`.
template <class T>
__device__ inline T shuffle(T value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain values can be shuffled");
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int& word : words) word = __builtin_amdgcn_ds_bpermute(static_cast<int>(source * 4), word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

// The value of the first of the lanes that are here together.
template <class T>
__device__ inline T first_lanes_value(T value) {
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int& word : words) word = __builtin_amdgcn_readfirstlane(word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

// How many threads of the block say yes: one count a wave in shared memory, added up by all.
__device__ inline unsigned tally(bool predicate) {
  __shared__ unsigned total;
  const unsigned long long votes = __builtin_amdgcn_ballot_w64(predicate);
  if (thread_in_block() == 0) total = 0;
  wait_for_block();
  if (__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == 0)
    __hip_atomic_fetch_add(&total, __builtin_popcountll(votes), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  wait_for_block();
  const unsigned result = total;
  wait_for_block();
  return result;
}

}  // namespace xray

// Barriers

__device__ inline __attribute__((always_inline)) void __syncthreads() { xray::wait_for_block(); }
__device__ inline int __syncthreads_count(int predicate) { return static_cast<int>(xray::tally(predicate != 0)); }
__device__ inline int __syncthreads_and(int predicate) { return xray::tally(predicate == 0) == 0; }
__device__ inline int __syncthreads_or(int predicate) { return xray::tally(predicate != 0) != 0; }
__device__ inline void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

__device__ inline void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__device__ inline void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__device__ inline void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

// Votes

__device__ inline unsigned __lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__device__ inline unsigned long long __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__device__ inline unsigned long long __activemask() { return __builtin_amdgcn_ballot_w64(true); }
__device__ inline int __any(int predicate) { return __ballot(predicate) != 0; }
__device__ inline int __all(int predicate) { return __ballot(!predicate) == 0; }

// Shuffles: a wave is cut in groups of `width` lanes; a source outside its group is the lane itself.

template <class T>
__device__ inline T __shfl(T value, int source, int width = warpSize) {
  const int group = static_cast<int>(__lane_id()) & -width;
  return xray::shuffle(value, group | (source & (width - 1)));
}
template <class T>
__device__ inline T __shfl_up(T value, unsigned delta, int width = warpSize) {
  const unsigned lane = __lane_id();
  return xray::shuffle(value, (lane & (width - 1)) < delta ? lane : lane - delta);
}
template <class T>
__device__ inline T __shfl_down(T value, unsigned delta, int width = warpSize) {
  const unsigned lane = __lane_id();
  return xray::shuffle(value, (lane & (width - 1)) + delta >= static_cast<unsigned>(width) ? lane : lane + delta);
}
template <class T>
__device__ inline T __shfl_xor(T value, int mask, int width = warpSize) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane ^ mask;
  return xray::shuffle(value, source >= ((lane + width) & -width) ? lane : source);
}

// Lanes that hold the same value

// The lanes whose value is this lane's: one round for each value that there is.
template <class T>
__device__ inline unsigned long long __match_any(T value) {
  for (;;) {
    if (xray::first_lanes_value(value) == value) return __activemask();
  }
}
// All lanes if they hold the same value, or none.
template <class T>
__device__ inline unsigned long long __match_all(T value, int* all) {
  *all = __all(xray::first_lanes_value(value) == value);
  return *all ? __activemask() : 0;
}

// With a mask of the lanes that take part. ROCm refuses one of 32 bits, and so does this.

#define XRAY_MASK(Mask)                                      \
  static_assert(std::is_integral_v<Mask> && sizeof(Mask) == 8, \
                "a wave has 64 lanes, so its mask has 64 bits: write 0xffffffffffffffffull for all of them")

template <class Mask>
__device__ inline unsigned long long __ballot_sync(Mask mask, int predicate) {
  XRAY_MASK(Mask);
  return __ballot(predicate) & mask;
}
template <class Mask>
__device__ inline int __any_sync(Mask mask, int predicate) {
  XRAY_MASK(Mask);
  return (__ballot(predicate) & mask) != 0;
}
template <class Mask>
__device__ inline int __all_sync(Mask mask, int predicate) {
  XRAY_MASK(Mask);
  return (__ballot(predicate) & mask) == mask;
}
template <class Mask, class T>
__device__ inline unsigned long long __match_any_sync(Mask mask, T value) {
  XRAY_MASK(Mask);
  return __match_any(value) & mask;
}
template <class Mask, class T>
__device__ inline unsigned long long __match_all_sync(Mask mask, T value, int* all) {
  XRAY_MASK(Mask);
  return __match_all(value, all) & mask;
}
template <class Mask, class T>
__device__ inline T __shfl_sync(Mask, T value, int source, int width = warpSize) {
  XRAY_MASK(Mask);
  return __shfl(value, source, width);
}
template <class Mask, class T>
__device__ inline T __shfl_up_sync(Mask, T value, unsigned delta, int width = warpSize) {
  XRAY_MASK(Mask);
  return __shfl_up(value, delta, width);
}
template <class Mask, class T>
__device__ inline T __shfl_down_sync(Mask, T value, unsigned delta, int width = warpSize) {
  XRAY_MASK(Mask);
  return __shfl_down(value, delta, width);
}
template <class Mask, class T>
__device__ inline T __shfl_xor_sync(Mask, T value, int lanes, int width = warpSize) {
  XRAY_MASK(Mask);
  return __shfl_xor(value, lanes, width);
}
#undef XRAY_MASK

// Loads and stores that hint at a cache

#define XRAY_LOAD(name)                        \
  template <class T>                           \
  __device__ inline T name(const T* pointer) { \
    return *pointer;                           \
  }
XRAY_LOAD(__ldg)
XRAY_LOAD(__ldca)
XRAY_LOAD(__ldcg)
XRAY_LOAD(__ldcs)
XRAY_LOAD(__ldcv)
XRAY_LOAD(__ldlu)
#undef XRAY_LOAD

#define XRAY_STORE(name)                                                 \
  template <class T>                                                     \
  __device__ inline void name(T* pointer, std::type_identity_t<T> value) { \
    *pointer = value;                                                    \
  }
XRAY_STORE(__stcg)
XRAY_STORE(__stcs)
XRAY_STORE(__stwb)
XRAY_STORE(__stwt)
#undef XRAY_STORE

// Clocks

__device__ inline long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
__device__ inline long long clock() { return clock64(); }
__device__ inline long long wall_clock64() { return static_cast<long long>(__builtin_readsteadycounter()); }
__device__ inline void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
