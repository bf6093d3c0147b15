// Barriers of a block and operations of a wave on the CPU; hipshared/wave.h has the functions that authors call.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hipcpu/checked.h>
#include <hipcpu/team.h>

namespace hipcpu {

enum class Meeting : uint32_t { kShuffle, kVote, kSync, kLanes };

constexpr uint32_t site_of(int line, Meeting meeting) {
  return static_cast<uint32_t>(line) * 4 + static_cast<uint32_t>(meeting);
}

inline __attribute__((always_inline)) void wait_for_block(int line) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_barrier();
#endif
  Team& team = *hipcpu_team;
  const Coordinates me = threadIdx;
  if (__builtin_expect(team.busy == 0, 1)) {  // never in a checked build
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

// The values that the lanes wrote at the last wave operation.
inline const Mailbox& received() {
  const Team& team = *hipcpu_team;
  return team.mail[team.filling ^ 1];
}

// A barrier that returns how many threads passed `true`.
inline uint32_t count_in_block(bool predicate, int line) {
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

// The value that lane `source` passed; 0 if that lane does not participate, as with ds_bpermute_b32.
template <class T>
inline T shuffle(T value, uint32_t source, int line) {
  static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable values can be shuffled");
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

inline constexpr bool can_sync_grid = false;

template <class Nothing>
inline void sync_grid() {
  static_assert(sizeof(Nothing*) == 0, "grid_group::sync runs on a GPU only: blocks on the CPU runtime cannot wait for each other");
}

}  // namespace hipcpu

template <class Mask = unsigned long long>
static inline void __syncwarp(Mask = ~0ull, int line = __builtin_LINE()) {
  static_assert(std::is_integral_v<Mask> && sizeof(Mask) == 8, "a wave has 64 lanes, so its mask has 64 bits");
  hipcpu::wait_for_wave(hipcpu::site_of(line, hipcpu::Meeting::kSync), 0);
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static inline unsigned __lane_id() { return hipcpu::thread_in_block() % hipcpu::kWaveSize; }

#include <hipshared/wave.h>

// Votes with a mask. Only the participating lanes call these, so the mask is redundant.

template <class Mask>
static inline unsigned long long __ballot_sync(Mask, int predicate, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __ballot(predicate, line);
}
template <class Mask>
static inline int __any_sync(Mask, int predicate, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __any(predicate, line);
}
template <class Mask>
static inline int __all_sync(Mask, int predicate, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __all(predicate, line);
}

// Lanes that have the same value

// The lanes whose value is this lane's.
template <class T>
static inline unsigned long long __match_any(T value, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MATCH(T);
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
// All participating lanes if they have the same value, none otherwise.
template <class T>
static inline unsigned long long __match_all(T value, int* holds, int line = __builtin_LINE()) {
  const unsigned long long here = hipcpu::vote(true, line);
  *holds = __match_any(value, line) == here;
  return *holds ? here : 0;
}
template <class Mask, class T>
static inline unsigned long long __match_any_sync(Mask, T value, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __match_any(value, line);
}
template <class Mask, class T>
static inline unsigned long long __match_all_sync(Mask, T value, int* holds, int line = __builtin_LINE()) {
  HIPSHARED_CHECK_MASK(Mask);
  return __match_all(value, holds, line);
}
