// The bug finder's own parts: where a kernel is, what an address is, who touched it before, what was found.
//
// It watches one worker, from its one OS thread, and takes no lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../runtime/worker.h"

namespace hipcpu::checks {

// How sure a finding is, by itself. The judge raises or drops it when it knows whether the answer was right.
enum class Certainty : uint8_t {
  kError,    // wrong by the language, whatever came out
  kWarning,  // wrong by the language, but it may do no harm
  kSuspect,  // worth telling only if the answer is wrong
};

enum class Space : uint8_t {
  kGlobal,
  kShared,
  kModule,    // code and constants of the file
  kVariable,  // a variable of the file, the device's or the host's
  kOurs,      // threadIdx and its like
};

struct Access;

// Memory whose extent is known.
struct Region {
  uintptr_t begin;
  uintptr_t end;
  Space space;
  const char* name;     // of a static shared array, or of a variable
  struct Cell* cells;   // one for each four bytes; none until it is touched
};

// The thread that runs now.
struct Now {
  const Worker* worker;
  const Launch* launch;
  uint32_t serial;        // of the block, through all launches
  uint32_t first_serial;  // of the launch
  uint32_t time;          // accesses so far in this launch
};

extern Now now;
extern __thread bool watching;  // this OS thread runs a kernel's own code

inline uint32_t thread() { return now.worker->current; }

// Steps that may be looked at: accesses of any kind, and waits. A run that has spent them ends.
extern uint64_t steps_left;
[[noreturn]] void run_out();
inline void spend(uint64_t steps) {
  if (steps_left <= steps) run_out();
  steps_left -= steps;
}

// Sites: places in the code, as chains of return addresses, told apart by number.

constexpr int kChain = 6;
struct Chain {
  uintptr_t pc[kChain];
};
uint32_t site_from(const void* frame);  // of the hook that the instrumented code has called
const Chain& chain_of(uint32_t site);

// Places

void map_launch(const Worker& worker, const Launch& launch);
void learn_place(const void* place);  // the address of the submission's threadIdx
Region* find_region(uintptr_t address);
uintptr_t module_base();
// Reports an access to memory that the kernel may not touch; nothing if it may.
void refuse(uintptr_t address, size_t bytes, bool write, uint32_t site);

// Findings

struct Place {
  uint32_t thread;
  uint32_t serial;
  uint32_t site;  // 0: `line` says it
  int line;
};

void tell(const char* kind, Certainty certainty, const char* detail, const Place& here, const Place* other = nullptr,
          uintptr_t address = 0);

// Memory that threads share

enum Flags : uint8_t {
  kRead = 0,
  kWrite = 1,
  kAtomic = 2,  // with kWrite: reads too, unless it is a kStore
  kStore = 4,
  kVolatile = 8,
  kLock = 16,  // threads take turns by such operations
};
void touch(Region& region, uintptr_t address, size_t bytes, unsigned flags, uint32_t site);
void settle();    // what could only be told after the access has happened
void conclude();  // the same, and what waited for the next one
void forget_order();       // a launch begins
void forget_block_order();  // a block begins

// Waves
uint32_t last_meeting(uint32_t thread);

}  // namespace hipcpu::checks
