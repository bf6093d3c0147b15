// The threads of a block as the worker that runs them sees them, and how they wait for each other.
//
// Threads run one after another as a plain loop until one of them has to wait. From then on each has a
// stack of its own. As long as all of them do the same (`busy` and `pending` say so) a wait is a step to the
// next thread of the ring, inlined in the kernel; anything else is the scheduler's, in the runtime.
#pragma once

#include <cstdint>

#include <hipcpu/core.h>
#include <hipcpu/switch.h>

namespace hipcpu {

// Values of Team::pending beyond any count of lanes: no inlined path accepts them.
constexpr uint32_t kPlainLoop = 1u << 30;   // no thread has waited yet
constexpr uint32_t kScheduled = 1u << 31;  // threads differ in what they do: the scheduler decides

// A wave operation of 64 lanes writes in one mailbox and reads the other, so that a lane that runs
// ahead to the next operation does not overwrite what its neighbours have yet to read.
struct Mailbox {
  uint64_t value[kWaveSize];
  uint64_t votes;
#ifdef HIPCPU_CHECKED
  uint64_t lanes;  // that took part
#endif
};

struct Team {
  uint32_t current;  // the thread that runs; kept only while threads have stacks of their own
  uint32_t first;    // the ring: threads first..count-1, those before have ended
  uint32_t count;
  uint32_t wave_site;  // what the pending lanes wait for
  union {
    struct {
      uint32_t pending;  // lanes of the running wave that wait for the others
      uint32_t exited;   // threads of the ring that have ended, in order
    };
    uint64_t busy;  // both: zero when a barrier may take the short way
  };
  uint32_t round;    // barriers passed
  uint32_t filling;  // the mailbox that lanes write to
  uint32_t tally[2];  // of the predicates at barriers, by the parity of `round`
  Mailbox mail[2];
  Slot slots[kMaxThreads + 2];
};

}  // namespace hipcpu

extern "C" {
extern __thread hipcpu::Team* hipcpu_team;
// The long ways; `thread` counts within the block, x fastest.
void hipcpu_wait_for_block(uint32_t thread, uint32_t site);
void hipcpu_wait_for_wave(uint32_t thread, uint32_t site, uint64_t value);
}

namespace hipcpu {

// Whether a thread of this translation unit has waited since its loop began: the loop must stop then.
[[maybe_unused]] static __thread bool left_loop;

inline __attribute__((always_inline)) uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// For machines whose nearest cache is too small for the frames of a block.
inline __attribute__((always_inline)) void prefetch_frame(const Slot& slot) {
  const char* frame = static_cast<const char*>(slot.stack);
  __builtin_prefetch(frame);
  __builtin_prefetch(frame + 64);
}

// All threads of the ring come here in order; the last one lets the first go on.
inline __attribute__((always_inline)) void step_block(Team& team) {
  const uint32_t me = team.current;
  uint32_t next = me + 1;
  if (__builtin_expect(next == team.count, 0)) {
    next = team.first;
    team.tally[++team.round & 1] = 0;
  }
  team.current = next;
  prefetch_frame(team.slots[next + 1]);
  switch_thread(&team.slots[me], &team.slots[next]);
}

// All lanes of the wave come here in order; the last one turns the mailboxes and lets the first go on.
void close_wave(Team& team, uint32_t lanes);

inline __attribute__((always_inline)) void step_wave(Team& team, uint32_t site, uint64_t value) {
  const uint32_t me = team.current;
  const uint32_t lane = me % kWaveSize;
  uint32_t next = me + 1;
  team.mail[team.filling].value[lane] = value;
  team.wave_site = site;
  team.pending = lane + 1;
  if (__builtin_expect(next == team.count || lane == kWaveSize - 1, 0)) {
    close_wave(team, lane + 1);
    next = me - lane;
  }
  team.current = next;
  switch_thread(&team.slots[me], &team.slots[next]);
}

}  // namespace hipcpu
