// Barriers of a block and operations of a wave on the GPU; hipshared/wave.h has the functions that authors call.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace xray {

__device__ inline unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// A barrier that also orders the memory accesses of the block before it and after it.
__device__ inline __attribute__((always_inline)) void wait_for_block(int = 0) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// The value of the lane `source`, word by word.
template <class T>
__device__ inline T shuffle(T value, unsigned source, int = 0) {
  static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable values can be shuffled");
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int& word : words) word = __builtin_amdgcn_ds_bpermute(static_cast<int>(source * 4), word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

// The value of the first active lane.
template <class T>
__device__ inline T first_lanes_value(T value) {
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int& word : words) word = __builtin_amdgcn_readfirstlane(word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

// How many threads of the block pass `true`: the counts of the waves are added up in shared memory.
__device__ inline unsigned count_in_block(bool predicate, int) {
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

__device__ inline unsigned long long vote(bool predicate, int) { return __builtin_amdgcn_ballot_w64(predicate); }

}  // namespace xray

template <class Mask = unsigned long long>
__device__ inline void __syncwarp(Mask = ~0ull, int = 0) HIPTARGET_NEEDS_ROCM_7 {
  static_assert(std::is_integral_v<Mask> && sizeof(Mask) == 8, "a wave has 64 lanes, so its mask has 64 bits");
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

__device__ inline void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__device__ inline void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__device__ inline void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

__device__ inline unsigned __lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

#include <hipshared/wave.h>

// Lanes that hold the same value

// The lanes whose value is this lane's: one iteration per distinct value.
template <class T>
__device__ inline unsigned long long __match_any(T value) {
  HIPSHARED_CHECK_MATCH(T);
  for (;;) {
    if (xray::first_lanes_value(value) == value) return __activemask();
  }
}
// All active lanes if they have the same value, none otherwise.
template <class T>
__device__ inline unsigned long long __match_all(T value, int* all) {
  HIPSHARED_CHECK_MATCH(T);
  *all = __all(xray::first_lanes_value(value) == value);
  return *all ? __activemask() : 0;
}

// Votes with a mask of the participating lanes

template <class Mask>
__device__ inline unsigned long long __ballot_sync(Mask mask, int predicate) {
  HIPSHARED_CHECK_MASK(Mask);
  return __ballot(predicate) & mask;
}
template <class Mask>
__device__ inline int __any_sync(Mask mask, int predicate) {
  HIPSHARED_CHECK_MASK(Mask);
  return (__ballot(predicate) & mask) != 0;
}
template <class Mask>
__device__ inline int __all_sync(Mask mask, int predicate) {
  HIPSHARED_CHECK_MASK(Mask);
  return (__ballot(predicate) & mask) == mask;
}
template <class Mask, class T>
__device__ inline unsigned long long __match_any_sync(Mask mask, T value) {
  HIPSHARED_CHECK_MASK(Mask);
  return __match_any(value) & mask;
}
template <class Mask, class T>
__device__ inline unsigned long long __match_all_sync(Mask mask, T value, int* all) {
  HIPSHARED_CHECK_MASK(Mask);
  return __match_all(value, all) & mask;
}
#ifndef XRAY_NO_LIBRARIES
extern "C" __device__ void __ockl_grid_sync(void);
#else
__device__ inline void __ockl_grid_sync() { __syncthreads(); }
#endif

namespace xray {

inline constexpr bool can_sync_grid = true;

template <class Nothing>
__device__ inline void sync_grid() {
  __ockl_grid_sync();
}

}  // namespace xray

// Clocks

__device__ inline long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
__device__ inline long long clock() { return clock64(); }
__device__ inline long long wall_clock64() { return static_cast<long long>(__builtin_readsteadycounter()); }
