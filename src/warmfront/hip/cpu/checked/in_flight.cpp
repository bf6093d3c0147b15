// Loads that run until the thread waits for them: to LDS, and by inline assembly to variables.
//
// The compiler does not wait for them. Until the thread waits, the destination contains garbage, so that
// using it makes the output wrong. A variable may be copied before the wait, as registers are; a wait
// therefore replaces the garbage, which identifies its load, in all of the thread's variables.
#include <hipcpu/checked.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

bool loads_in_flight;

namespace {

constexpr size_t kMostBytes = 16;
constexpr uint32_t kTag = 0x7fa00000;  // NaN as a float and as two halves; the other bits identify the load
constexpr uint32_t kTags = 0x1ffff0;

struct Load {
  uintptr_t to;
  size_t bytes;
  uint32_t thread;
  uint32_t site;
  uint32_t tag;
  bool to_lds, from_lds;
  unsigned char data[kMostBytes];
};

struct State {
  std::vector<Load> loads;  // in the order of their issue
  uint32_t tags = 0;
  bool bare = false;  // the next barrier does not wait for memory
  bool last_was_bare[kMaxThreads] = {};  // the last barrier of each thread
};

State& state() {
  static State& only = *new State;
  return only;
}

void start(void* to, size_t bytes, bool to_lds, bool from_lds, uint32_t site) {
  State& s = state();
  if (bytes > kMostBytes || bytes % 4) return;
  s.tags = (s.tags + 16) % kTags;
  Load load{reinterpret_cast<uintptr_t>(to), bytes, thread(), site, kTag | s.tags, to_lds, from_lds, {}};
  std::memcpy(load.data, to, bytes);
  for (size_t i = 0; i < bytes; i += 4) {
    const uint32_t garbage = load.tag + static_cast<uint32_t>(i / 4);
    std::memcpy(static_cast<char*>(to) + i, &garbage, 4);
  }
  s.loads.push_back(load);
  loads_in_flight = true;
}

struct Frame {
  const Frame* up;
  uintptr_t return_address;
};

// Replaces the words of a load wherever the thread has copied them to.
void finish_variables(const std::vector<Load>& finished, const void* from) {
  if (finished.empty()) return;
  const auto* frame = static_cast<const Frame*>(from);
  while (frame->up > frame && reinterpret_cast<uintptr_t>(frame->up) - reinterpret_cast<uintptr_t>(frame) < kPrivateBytes)
    frame = frame->up;
  const uintptr_t end = reinterpret_cast<uintptr_t>(frame);
  for (uintptr_t at = (reinterpret_cast<uintptr_t>(from) + 3) & ~uintptr_t{3}; at + 4 <= end; at += 4) {
    uint32_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(at), 4);
    if ((word & ~0x1fffffu) != kTag) continue;
    for (const Load& load : finished)
      if (word - load.tag < load.bytes / 4)
        std::memcpy(reinterpret_cast<void*>(at), load.data + (word - load.tag) * 4, 4);
  }
}

void finish(unsigned vector_memory, unsigned lds, const void* frame) {
  State& s = state();
  std::vector<Load> rest, variables;
  unsigned of_memory = 0, of_lds = 0;
  for (size_t i = s.loads.size(); i-- > 0;) {  // the newest first
    const Load& load = s.loads[i];
    const bool is_mine = load.thread == thread();
    const bool runs = load.from_lds ? ++of_lds <= lds : ++of_memory <= vector_memory;
    if (!is_mine) {
      --(load.from_lds ? of_lds : of_memory);
      rest.push_back(load);
    } else if (runs) {
      rest.push_back(load);
    } else if (load.to_lds) {
      std::memcpy(reinterpret_cast<void*>(load.to), load.data, load.bytes);
    } else {
      variables.push_back(load);
    }
  }
  std::reverse(rest.begin(), rest.end());
  s.loads = std::move(rest);
  loads_in_flight = !s.loads.empty();
  finish_variables(variables, frame);
}

}  // namespace

void look_at_flight(uintptr_t address, size_t bytes, uint32_t site) {
  for (const Load& load : state().loads) {
    if (address >= load.to + load.bytes || load.to >= address + bytes) continue;
    const Place there{load.thread, now.serial, load.site, 0};
    const Place here{thread(), now.serial, site, 0};
    Text detail;
    detail << "uses " << (load.to_lds ? "shared memory" : "a variable")
           << " before the wait for the load that writes it";
    report_finding("use-before-wait", load.to_lds ? Certainty::kWarning : Certainty::kSuspect, detail.data(), here, &there,
                   address);
    return;
  }
}

bool is_at_bare_barrier(uint32_t thread) { return state().last_was_bare[thread]; }

void forget_loads() {
  state().loads.clear();
  state().bare = false;
  loads_in_flight = false;
}

}  // namespace hipcpu::checks

using namespace hipcpu::checks;

extern "C" {

void hipcpu_checked_wait(unsigned vector_memory, unsigned lds) {
  if (watching && loads_in_flight) finish(vector_memory, lds, __builtin_frame_address(0));
}

void hipcpu_checked_bare_barrier() { state().bare = true; }

void hipcpu_checked_barrier() {
  const bool waits = !state().bare;
  state().bare = false;
  if (watching) state().last_was_bare[thread()] = !waits;
  if (waits && watching && loads_in_flight) finish(0, 0, __builtin_frame_address(0));
}

void hipcpu_checked_lds_load(void* to, size_t bytes) {
  if (watching) start(to, bytes, true, false, site_from(__builtin_frame_address(0)));
}

void hipcpu_checked_register_load(void* to, size_t bytes, bool lds) {
  if (watching) start(to, bytes, false, lds, site_from(__builtin_frame_address(0)));
}

void hipcpu_checked_buffer(uint64_t offset, size_t bytes, uint64_t size, bool writes) {
  constexpr uint64_t kOnPurpose = uint64_t{1} << 31;  // kernels mask lanes with an offset beyond any buffer
  if (!watching || offset >= kOnPurpose) return;
  hipcpu::Text detail;
  detail << (writes ? "writes " : "reads ") << uint64_t{bytes} << " bytes at offset " << offset << " of a buffer whose descriptor has "
         << size << " bytes: " << (writes ? "nothing is written" : "the result is 0");
  report_finding("buffer-out-of-range", Certainty::kSuspect, detail.data(),
                 {thread(), now.serial, site_from(__builtin_frame_address(0)), 0});
}
}
