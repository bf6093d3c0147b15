// The threads of the block that a worker runs, and how they wait for each other.
//
// Threads run one after another in a plain loop until one of them has to wait. From then on each has its own stack.
// As long as execution is uniform, which `busy` and `pending` show, a wait switches to the next thread of the ring
// and is inlined in the kernel. In all other cases the scheduler in the runtime decides.
#pragma once

#include <cstdint>

#include <hipcpu/core.h>
#include <hipcpu/switch.h>

namespace hipcpu {

// Values of Team::pending above any number of lanes: no inlined path accepts them.
constexpr uint32_t kInLoops = 1u << 29;    // the kernel's second form runs the block: no thread may wait
constexpr uint32_t kPlainLoop = 1u << 30;  // no thread has waited yet
constexpr uint32_t kScheduled = 1u << 31;  // execution diverges: the scheduler decides

// A wave operation writes to one mailbox and reads from the other, so that a lane that is already at the next
// operation does not overwrite what other lanes still have to read.
struct Mailbox {
  uint64_t value[kWaveSize];
  uint64_t votes;
#ifdef HIPCPU_CHECKED
  uint64_t lanes;  // the lanes that participated
#endif
};

struct Team {
  uint32_t current;  // the running thread; valid only while threads have their own stacks
  uint32_t first;    // the ring has the threads first..count-1; earlier ones have ended
  uint32_t count;
  uint32_t wave_site;  // the operation that the pending lanes wait at
  union {
    struct {
      uint32_t pending;  // the lanes of the running wave that wait for the others
      uint32_t exited;   // the threads of the ring that have ended, in order
    };
    uint64_t busy;  // both: zero if a barrier can take the fast path
  };
  uint32_t round;    // the number of barriers passed
  uint32_t filling;  // the mailbox that lanes write to
  uint32_t tally[2];  // counts of the predicates at barriers, by the parity of `round`
  Mailbox mail[2];
  Slot slots[kMaxThreads + 2];
};

}  // namespace hipcpu

extern "C" {
extern __thread hipcpu::Team* hipcpu_team;
// The slow paths; `thread` is the index in the block, x fastest.
void hipcpu_wait_for_block(uint32_t thread, uint32_t site);
void hipcpu_wait_for_wave(uint32_t thread, uint32_t site, uint64_t value);
}

namespace hipcpu {

// Whether a thread of this translation unit has waited since its loop began; the loop must then stop.
[[maybe_unused]] static __thread bool left_loop;

inline __attribute__((always_inline)) uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// For processors whose first-level cache is too small for the frames of a block.
inline __attribute__((always_inline)) void prefetch_frame(const Slot& slot) {
  const char* frame = static_cast<const char*>(slot.stack);
  __builtin_prefetch(frame);
  __builtin_prefetch(frame + 64);
}

// Called by all threads of the ring in order; the last one switches to the first.
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

// Called by all lanes of the wave in order; the last one swaps the mailboxes and switches to the first.
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
