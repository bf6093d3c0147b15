// Checks of barriers and wave operations: divergent barriers, inactive lanes, and the assumption of 32 lanes per wave.
#include <hipcpu/checked.h>

#include <unistd.h>

#include <algorithm>
#include <map>

#include <hipcpu/hooks.h>

#include "../runtime/checks.h"
#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

Now now;
uint64_t steps_left = ~uint64_t{0};

namespace {

constexpr uint32_t kHalfWave = kWaveSize / 2;
constexpr uint64_t kUpperHalf = ~uint64_t{0} << kHalfWave;

uint32_t meetings;                     // of all waves in this block
uint32_t meeting_of[kMaxThreads];      // the last one of each thread
uint32_t serials;

// How far the shuffles of a whole wave reach, by line.
struct Reach {
  uint32_t farthest;
  uint32_t thread;
  uint32_t serial;
};
std::map<int, Reach>& reaches() {
  static auto& only = *new std::map<int, Reach>;
  return only;
}

Place place_of(uint32_t thread, int line) { return {thread, now.serial, 0, line}; }

int line_of(const Worker& worker, uint32_t thread) { return static_cast<int>(worker.schedule.site[thread]); }

bool waits(const Worker& worker, uint32_t thread) { return worker.schedule.state[thread] == State::kAtBlock; }

void look_for_divergence(const Worker& worker, uint32_t first) {
  uint32_t other = worker.count;
  bool in_one_wave = false;
  uint32_t of_wave = first;  // the first waiting thread of the current wave
  for (uint32_t thread = first; thread < worker.count && !in_one_wave; ++thread) {
    if (!waits(worker, thread)) continue;
    if (thread / kWaveSize != of_wave / kWaveSize) of_wave = thread;
    if (line_of(worker, thread) != line_of(worker, of_wave)) {
      first = of_wave;
      other = thread;
      in_one_wave = true;
    } else if (line_of(worker, thread) != line_of(worker, first)) {
      other = std::min(other, thread);
    }
  }
  if (other == worker.count) return;
  // The instruction counts waves: kernels use it to let some waves work while others load.
  if (!in_one_wave && is_at_bare_barrier(first) && is_at_bare_barrier(other)) return;
  Text detail;
  detail << "threads of one block wait at different barriers";
  if (!in_one_wave) detail << "; they are in different waves, which an AMD GPU allows";
  const Place there = place_of(other, line_of(worker, other));
  report_finding("barrier-divergence", in_one_wave ? Certainty::kError : Certainty::kWarning, detail.data(),
       place_of(first, line_of(worker, first)), &there);
}

void look_for_ended(const Worker& worker, uint32_t first) {
  const auto* states = worker.schedule.state;
  const auto ended = static_cast<uint64_t>(std::count(states, states + worker.count, State::kEnded));
  if (ended == 0) return;
  const auto gone = static_cast<uint32_t>(std::find(states, states + worker.count, State::kEnded) - states);
  Text detail;
  detail << ended << " of the block's " << uint64_t{worker.count}
         << " threads have returned before this barrier; an AMD GPU does not wait for them, but other GPUs may deadlock";
  const Place there = place_of(gone, line_of(worker, first));
  report_finding("barrier-after-exit", Certainty::kWarning, detail.data(), place_of(first, line_of(worker, first)), &there);
}

void tell_of_half_waves() {
  uint32_t farthest = 0;
  for (const auto& [line, reach] : reaches()) farthest = std::max(farthest, reach.farthest);
  if (farthest != kHalfWave / 2) return;
  for (const auto& [line, reach] : reaches()) {
    if (reach.farthest != farthest) continue;
    report_finding("wave-of-32", Certainty::kSuspect,
         "no shuffle of this kernel reaches farther than 16 lanes, but a wave has 64: its halves are never combined",
         {reach.thread, reach.serial, 0, line});
    break;
  }
}

}  // namespace

void run_out() {
  report_finding("ran-out", Certainty::kSuspect, "the bug finder has reached its limit of steps", place_of(thread(), 0));
  _exit(0);
}

uint32_t last_meeting(uint32_t thread) { return meeting_of[thread]; }

void begin_launch(const Worker& worker, const Launch& launch) {
  now = {&worker, &launch, serials, serials + 1, 0};
  forget_order();
  reaches().clear();
  map_launch(worker, launch);
}

void end_launch() {
  watching = false;
  conclude();
  conclude_wide_accesses();
  tell_of_half_waves();
}

void begin_block(const Worker& worker) {
  conclude();
  if (now.serial >= now.first_serial) conclude_wide_accesses();
  forget_loads();
  watching = false;
  now.worker = &worker;
  now.serial = ++serials;
  meetings = 0;
  std::fill(meeting_of, meeting_of + worker.count, 0);
  forget_block_order();
}

void begin_stack() { watching = false; }

void resume_thread() {
  constexpr uint64_t kStepsOfAWait = 4;
  spend(kStepsOfAWait);
  watching = true;
}

void open_barrier(const Worker& worker) {
  settle();
  uint32_t first = worker.first;
  while (!waits(worker, first)) ++first;
  look_for_divergence(worker, first);
  look_for_ended(worker, first);
}

void inactive_matrix_lanes(int line, const char* detail) {
  report_finding("matrix-inactive-lane", Certainty::kError, detail, place_of(thread(), line));
}

void meet(const Worker& worker, uint64_t lanes) {
  settle();
  ++meetings;
  for (; lanes; lanes &= lanes - 1) meeting_of[worker.schedule.wave + __builtin_ctzll(lanes)] = meetings;
}

}  // namespace hipcpu::checks

using namespace hipcpu;
using namespace hipcpu::checks;

extern "C" {

void hipcpu_limit_steps(unsigned long long count) { steps_left = count; }

void hipcpu_checked_begin(uint32_t thread, const void* place) {
  hipcpu_team->current = thread;
  set_thread_index(place);
  watching = true;
}

void hipcpu_checked_end() {
  watching = false;
  settle();
}

uint64_t hipcpu_checked_shuffle(uint32_t source, int line) {
  const Mailbox& mail = hipcpu_team->mail[hipcpu_team->filling ^ 1];
  const uint32_t lane = thread() % kWaveSize;
  source %= kWaveSize;
  if (mail.lanes & kUpperHalf) {
    Reach& reach = reaches()[line];
    reach.farthest = std::max(reach.farthest, source > lane ? source - lane : lane - source);
    reach.thread = thread();
    reach.serial = now.serial;
  }
  if (mail.lanes >> source & 1) return mail.value[source];
  Text detail;
  detail << "lane " << uint64_t{lane} << " reads lane " << uint64_t{source}
         << ", which does not participate: the result is undefined";
  report_finding("inactive-lane", Certainty::kSuspect, detail.data(), place_of(thread(), line));
  // Large, and of either sign, so that neither a sum nor a minimum or maximum hides it.
  return lane % 2 ? 0x7f7ffff07f7ffff0 : 0xff7ffff0ff7ffff0;
}

void hipcpu_checked_inactive(uint32_t source, const char* what, int line) {
  Text detail;
  detail << what << " of lane " << uint64_t{thread() % kWaveSize} << " reads lane " << uint64_t{source}
         << ", which does not participate";
  const char* kind = what[0] == 'a' ? "dpp-inactive-lane" : "inactive-lane";  // "a DPP operation"
  report_finding(kind, Certainty::kSuspect, detail.data(), place_of(thread(), line));
}

void hipcpu_checked_vote(uint64_t votes, int line) {
  if (votes & kUpperHalf)
    report_finding("wide-vote", Certainty::kSuspect, "a vote has bits of lanes 32 and above", place_of(thread(), line));
}
}
