// The slow paths of waiting: the first wait of a block, and threads that diverge.
//
// A wave runs until all its lanes wait or have ended; then the lanes that wait at the operation of the lowest
// waiting lane exchange their values. A barrier opens when every thread that has not ended waits at a barrier, as
// with s_barrier. So no wait can deadlock.
#include <algorithm>

#include "checks.h"
#include "faults.h"
#include "stacks.h"
#include "worker.h"

namespace hipcpu {

void close_wave(Team& team, uint32_t lanes) {
  Mailbox& mail = team.mail[team.filling];
  std::fill(mail.value + lanes, mail.value + kWaveSize, 0);
  mail.votes = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) mail.votes |= uint64_t{mail.value[lane] != 0} << lane;
  team.filling ^= 1;
  team.pending = 0;
}

namespace {

constexpr uint32_t kNone = ~0u;

uint32_t wave_end(const Worker& worker) {
  return std::min(worker.schedule.wave + kWaveSize, worker.count);
}

void start_stacks(Worker& worker, uint32_t thread) {
  worker.first = worker.current = thread;
  worker.started = thread + 1;
  worker.busy = 0;
  worker.block.waiting = true;
  prepare_thread(worker, thread + 1);
}

// The rewriter gives no second form to a kernel in which a function that it calls waits.
void refuse_to_wait() { die("a thread waited inside a loop over the threads of its block"); }

// Switches from uniform execution to a state per thread. The caller sets the state of the running thread.
void take_over(Worker& worker) {
  Schedule& s = worker.schedule;
  const uint32_t me = worker.current;
  const uint32_t live_from = worker.first + worker.exited;
  s.wave = me - me % kWaveSize;
  s.scan = me + 1;
  s.lanes = worker.pending;
  s.live = worker.count - live_from;
  const uint32_t waiting_lanes_from = worker.pending ? std::max(s.wave, live_from) : me;
  std::fill(s.state, s.state + live_from, State::kEnded);
  std::fill(s.state + live_from, s.state + std::max(waiting_lanes_from, live_from), State::kAtBlock);
  std::fill(s.state + waiting_lanes_from, s.state + me, State::kAtWave);
  std::fill(s.site + waiting_lanes_from, s.site + me, worker.wave_site);
  std::fill(s.state + me, s.state + worker.started, State::kReady);
  std::fill(s.state + worker.started, s.state + worker.count, State::kFresh);
  worker.exited = 0;
  worker.pending = kScheduled;
}

// Lets the lanes that wait at the same operation as the lowest one exchange their values.
void meet(Worker& worker) {
  Schedule& s = worker.schedule;
  const uint32_t end = wave_end(worker);
  const Mailbox& sent = worker.mail[worker.filling];
  Mailbox& got = worker.mail[worker.filling ^ 1];
  got = {};
  uint32_t site = kNone;
  uint64_t lanes = 0;
  for (uint32_t thread = s.wave; thread < end; ++thread) {
    if (s.state[thread] != State::kAtWave) continue;
    if (site == kNone) site = s.site[thread];
    if (s.site[thread] != site) continue;
    const uint32_t lane = thread - s.wave;
    got.value[lane] = sent.value[lane];
    got.votes |= uint64_t{sent.value[lane] != 0} << lane;
    lanes |= uint64_t{1} << lane;
    s.state[thread] = State::kReady;
    --s.lanes;
  }
#ifdef HIPCPU_CHECKED
  got.lanes = lanes;
#endif
  checks::meet(worker, lanes);
}

void open_barrier(Worker& worker) {
  Schedule& s = worker.schedule;
  checks::open_barrier(worker);
  for (uint32_t thread = worker.first; thread < worker.count; ++thread)
    if (s.state[thread] == State::kAtBlock) s.state[thread] = State::kReady;
  worker.tally[++worker.round & 1] = 0;
  s.wave = worker.first - worker.first % kWaveSize;
  s.scan = worker.first;
  // Back to uniform execution, except in a checked build, which keeps the state of each thread.
  if (!kChecked && s.live == worker.count - worker.first) worker.busy = 0;
}

// The thread that runs next; kNone if all have ended.
uint32_t pick(Worker& worker) {
  Schedule& s = worker.schedule;
  for (;;) {
    for (; s.scan < wave_end(worker); ++s.scan)
      if (s.state[s.scan] <= State::kReady) return s.scan++;
    if (s.lanes) {
      meet(worker);
      s.scan = s.wave;
    } else if (wave_end(worker) < worker.count) {
      s.scan = s.wave = s.wave + kWaveSize;
    } else if (s.live) {
      open_barrier(worker);
    } else {
      return kNone;
    }
  }
}

Slot* resume(Worker& worker, uint32_t thread) {
  if (worker.schedule.state[thread] == State::kFresh) {
    worker.schedule.state[thread] = State::kReady;
    prepare_thread(worker, thread);
  }
  worker.current = thread;
  return &worker.slots[thread];
}

void wait_as(Worker& worker, State state, uint32_t site) {
  const uint32_t me = worker.current;
  worker.schedule.state[me] = state;
  worker.schedule.site[me] = site;
  const uint32_t next = pick(worker);
  Slot* slot = resume(worker, next);
  if (next != me) switch_thread(&worker.slots[me], slot);
  checks::resume_thread();
}

// Records that the running thread has ended; returns the thread to continue with, or kNone for the plain loop.
uint32_t end_current(Worker& worker) {
  const uint32_t me = worker.current;
  if (worker.pending == 0 && worker.exited == me - worker.first) {
    ++worker.exited;
    worker.resume_at = me + 1;
    const bool none_waits = me + 1 == worker.started;
    return none_waits ? kNone : worker.current = me + 1;
  }
  if (worker.pending != kScheduled) take_over(worker);
  worker.schedule.state[me] = State::kEnded;
  --worker.schedule.live;
  const uint32_t next = pick(worker);
  worker.resume_at = worker.count;
  if (next != kNone) resume(worker, next);
  return next;
}

// The largest box of threads, starting with `from`, that a nested loop can run.
Coordinates box_end(const Coordinates& from, const Coordinates& size) {
  if (from.x) return {size.x, from.y + 1, from.z + 1};
  if (from.y) return {size.x, size.y, from.z + 1};
  return size;
}

}  // namespace

void run_block(Worker& worker) {
  checks::begin_block(worker);
  worker.round = 0;
  worker.tally[0] = worker.tally[1] = 0;
  run_threads_from(worker, 0);
}

void run_threads_from(Worker& worker, uint32_t next) {
  const Launch& launch = *worker.launch;
  while (next < worker.count) {
    const Coordinates from = worker.places[next];
    // A replay records which thread runs.
    const Coordinates to =
        worker.replaying ? Coordinates{from.x + 1, from.y + 1, from.z + 1} : box_end(from, worker.block.size);
    worker.loop_from = worker.current = next;
    worker.pending = kPlainLoop;
    worker.block.waiting = false;
    launch.threads(launch.call, worker.block, from, to);
    if (worker.pending == kPlainLoop) {
      next += (to.x - from.x) * (to.y - from.y) * (to.z - from.z);
      continue;
    }
    const uint32_t waiting = end_current(worker);
    if (waiting != kNone) switch_thread(&worker.home, &worker.slots[waiting]);
    next = worker.resume_at;
  }
}

void run_thread() {
  checks::begin_stack();
  Worker& worker = this_worker();
  const uint32_t me = worker.current;
  if (me >= worker.started) worker.started = me + 1;
  if (worker.pending != kScheduled && me + 1 < worker.count) prepare_thread(worker, me + 1);
  const Coordinates from = worker.places[me];
  worker.launch->threads(worker.launch->call, worker.block, from, {from.x + 1, from.y + 1, from.z + 1});
  const uint32_t next = end_current(worker);
  leave_thread(next == kNone ? &worker.home : &worker.slots[next]);
}

}  // namespace hipcpu

using namespace hipcpu;

extern "C" void hipcpu_wait_for_block(uint32_t thread, uint32_t site) {
  Worker& worker = this_worker();
  if (worker.pending == kInLoops) refuse_to_wait();
  if (worker.pending == kPlainLoop) start_stacks(worker, thread);
  if (!kChecked && worker.busy == 0) return step_block(worker);
  if (worker.pending != kScheduled) take_over(worker);
  wait_as(worker, State::kAtBlock, site);
}

extern "C" void hipcpu_wait_for_wave(uint32_t thread, uint32_t site, uint64_t value) {
  Worker& worker = this_worker();
  if (worker.pending == kInLoops) refuse_to_wait();
  if (worker.pending == kPlainLoop) start_stacks(worker, thread);
  const uint32_t lane = worker.current % kWaveSize;
  const bool in_step = worker.pending == lane && (lane == 0 || worker.wave_site == site);
  if (!kChecked && in_step) return step_wave(worker, site, value);
  if (worker.pending != kScheduled) take_over(worker);
  worker.mail[worker.filling].value[lane] = value;
  ++worker.schedule.lanes;
  wait_as(worker, State::kAtWave, site);
}
