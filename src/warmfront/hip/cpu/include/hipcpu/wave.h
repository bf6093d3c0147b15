// Barriers of a block, and what the 64 lanes of a wave do together: shuffles, votes, masks.
//
// Each takes its source line as a hidden default argument: lanes meet when they wait at the same line for
// the same kind of operation, which is how lanes on two sides of a branch stay apart.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hipcpu/checked.h>
#include <hipcpu/team.h>

namespace hipcpu {

enum class Meeting : uint32_t { kShuffle, kVote, kSync };

constexpr uint32_t site_of(int line, Meeting meeting) {
  return static_cast<uint32_t>(line) * 4 + static_cast<uint32_t>(meeting);
}

inline __attribute__((always_inline)) void wait_for_block(int line) {
  Team& team = *hipcpu_team;
  const Coordinates me = threadIdx;
  if (__builtin_expect(team.busy == 0, 1)) {  // never so in a checked build
    step_block(team);
  } else {
    left_loop = true;
    hipcpu_wait_for_block(thread_in_block(), static_cast<uint32_t>(line));
  }
  threadIdx = me;
}

inline __attribute__((always_inline)) void wait_for_wave(uint32_t site, uint64_t value) {
  Team& team = *hipcpu_team;
  const Coordinates me = threadIdx;
  const uint32_t lane = team.current % kWaveSize;
  if (__builtin_expect(team.pending == lane && (lane == 0 || team.wave_site == site), 1)) {
    step_wave(team, site, value);
  } else {
    left_loop = true;
    hipcpu_wait_for_wave(thread_in_block(), site, value);
  }
  threadIdx = me;
}

// What the lanes wrote before they last met.
inline const Mailbox& received() {
  const Team& team = *hipcpu_team;
  return team.mail[team.filling ^ 1];
}

// Barriers that also count: the tally of the round that has just ended.
inline uint32_t tally_of_block(bool predicate, int line) {
  Team* team = hipcpu_team;
  team->tally[team->round & 1] += predicate;
  wait_for_block(line);
  team = hipcpu_team;
  return team->tally[(team->round ^ 1) & 1];
}

inline uint64_t vote(bool predicate, int line) {
  wait_for_wave(site_of(line, Meeting::kVote), predicate);
#ifdef HIPCPU_CHECKED
  hipcpu_checked_vote(received().votes, line);
#endif
  return received().votes;
}

// The value that `source` has; 0 from a lane that does not take part, as ds_bpermute_b32 gives.
template <class T>
inline T shuffle(T value, uint32_t source, int line) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain values can be shuffled");
  constexpr size_t kWords = (sizeof(T) + 7) / 8;
  uint64_t words[kWords] = {};
  std::memcpy(words, &value, sizeof(T));
  for (size_t i = 0; i < kWords; ++i) {
    wait_for_wave(site_of(line, Meeting::kShuffle), words[i]);
#ifdef HIPCPU_CHECKED
    words[i] = hipcpu_checked_shuffle(source, line);
#else
    words[i] = received().value[source];
#endif
  }
  std::memcpy(&value, words, sizeof(T));
  return value;
}

}  // namespace hipcpu

// Barriers

static inline __attribute__((always_inline)) void __syncthreads(int line = __builtin_LINE()) {
  hipcpu::wait_for_block(line);
}

static inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return static_cast<int>(hipcpu::tally_of_block(predicate != 0, line));
}

static inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return hipcpu::tally_of_block(predicate == 0, line) == 0;
}

static inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return hipcpu::tally_of_block(predicate != 0, line) != 0;
}

static inline void __syncwarp(unsigned long long = ~0ull, int line = __builtin_LINE()) {
  hipcpu::wait_for_wave(hipcpu::site_of(line, hipcpu::Meeting::kSync), 0);
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Votes

static inline unsigned __lane_id() { return hipcpu::thread_in_block() % hipcpu::kWaveSize; }

static inline unsigned long long __ballot(int predicate, int line = __builtin_LINE()) {
  return hipcpu::vote(predicate != 0, line);
}

static inline unsigned long long __activemask(int line = __builtin_LINE()) { return hipcpu::vote(true, line); }

static inline int __any(int predicate, int line = __builtin_LINE()) {
  return hipcpu::vote(predicate != 0, line) != 0;
}

static inline int __all(int predicate, int line = __builtin_LINE()) {
  return hipcpu::vote(predicate == 0, line) == 0;
}

static inline unsigned long long __ballot_sync(unsigned long long, int predicate, int line = __builtin_LINE()) {
  return __ballot(predicate, line);
}

static inline int __any_sync(unsigned long long, int predicate, int line = __builtin_LINE()) {
  return __any(predicate, line);
}

static inline int __all_sync(unsigned long long, int predicate, int line = __builtin_LINE()) {
  return __all(predicate, line);
}

// The lanes that have the same value as this one.
template <class T>
static inline unsigned long long __match_any(T value, int line = __builtin_LINE()) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "only plain values of 8 bytes can be matched");
  const unsigned long long here = hipcpu::vote(true, line);
  uint64_t mine = 0;
  std::memcpy(&mine, &value, sizeof value);
  hipcpu::wait_for_wave(hipcpu::site_of(line, hipcpu::Meeting::kShuffle), mine);
  const hipcpu::Mailbox& mail = hipcpu::received();
  unsigned long long same = 0;
  for (unsigned lane = 0; lane < hipcpu::kWaveSize; ++lane)
    same |= static_cast<unsigned long long>(mail.value[lane] == mine) << lane;
  return same & here;
}

// All lanes that take part if they have the same value, none otherwise.
template <class T>
static inline unsigned long long __match_all(T value, int* holds, int line = __builtin_LINE()) {
  const unsigned long long here = hipcpu::vote(true, line);
  *holds = __match_any(value, line) == here;
  return *holds ? here : 0;
}

template <class T>
static inline unsigned long long __match_any_sync(unsigned long long, T value, int line = __builtin_LINE()) {
  return __match_any(value, line);
}

template <class T>
static inline unsigned long long __match_all_sync(unsigned long long, T value, int* holds,
                                                  int line = __builtin_LINE()) {
  return __match_all(value, holds, line);
}

// Shuffles: a wave is cut in groups of `width` lanes; a source outside its group is the lane itself.

template <class T>
static inline T __shfl(T value, int source, int width = warpSize, int line = __builtin_LINE()) {
  const int group = static_cast<int>(__lane_id()) & -width;
  return hipcpu::shuffle(value, group | (source & (width - 1)), line);
}

template <class T>
static inline T __shfl_up(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE()) {
  const unsigned lane = __lane_id();
  return hipcpu::shuffle(value, (lane & (width - 1)) < delta ? lane : lane - delta, line);
}

template <class T>
static inline T __shfl_down(T value, unsigned delta, int width = warpSize, int line = __builtin_LINE()) {
  const unsigned lane = __lane_id();
  const unsigned left = width - 1 - (lane & (width - 1));
  return hipcpu::shuffle(value, delta > left ? lane : lane + delta, line);
}

template <class T>
static inline T __shfl_xor(T value, int mask, int width = warpSize, int line = __builtin_LINE()) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane ^ mask;
  return hipcpu::shuffle(value, source >= ((lane + width) & -width) ? lane : source, line);
}

template <class T>
static inline T __shfl_sync(unsigned long long, T value, int source, int width = warpSize,
                            int line = __builtin_LINE()) {
  return __shfl(value, source, width, line);
}

template <class T>
static inline T __shfl_up_sync(unsigned long long, T value, unsigned delta, int width = warpSize,
                               int line = __builtin_LINE()) {
  return __shfl_up(value, delta, width, line);
}

template <class T>
static inline T __shfl_down_sync(unsigned long long, T value, unsigned delta, int width = warpSize,
                                 int line = __builtin_LINE()) {
  return __shfl_down(value, delta, width, line);
}

template <class T>
static inline T __shfl_xor_sync(unsigned long long, T value, int mask, int width = warpSize,
                                int line = __builtin_LINE()) {
  return __shfl_xor(value, mask, width, line);
}
