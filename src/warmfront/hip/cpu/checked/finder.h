// The interface between the parts of the bug finder: sites, addresses, shadow memory, findings.
//
// A checked build has one worker, so nothing here takes a lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../runtime/worker.h"

namespace hipcpu::checks {

// The certainty of a finding on its own. The judge raises or drops it once it knows whether the output was correct.
enum class Certainty : uint8_t {
  kError,    // undefined behavior or a certain bug, whatever the output
  kWarning,  // undefined behavior that may be harmless
  kSuspect,  // worth reporting only if the output is wrong
};

enum class Space : uint8_t {
  kGlobal,
  kShared,
  kModule,    // code and constants of the file
  kVariable,  // a variable of the file, on the device or the host
  kOurs,      // threadIdx and the other built-in variables
};

struct Access;

// Memory of known extent.
struct Region {
  uintptr_t begin;
  uintptr_t end;
  Space space;
  const char* name;     // of a static shared array, or of a variable
  struct Cell* cells;   // one per four bytes; null until the first access
};

// The running thread.
struct Now {
  const Worker* worker;
  const Launch* launch;
  uint32_t serial;        // of the block, counted over all launches
  uint32_t first_serial;  // of the first block of the launch
  uint32_t time;          // the number of accesses so far in this launch
};

extern Now now;
extern __thread bool watching;  // whether this OS thread runs code of a kernel

inline uint32_t thread() { return now.worker->current; }

// The remaining steps, which are accesses of any kind and waits. The run ends when they are used up.
extern uint64_t steps_left;
[[noreturn]] void run_out();
inline void spend(uint64_t steps) {
  if (steps_left <= steps) run_out();
  steps_left -= steps;
}

// Sites: positions in the code as chains of return addresses, identified by a number.

constexpr int kChain = 6;
struct Chain {
  uintptr_t pc[kChain];
};
uint32_t site_from(const void* frame);  // `frame` is that of the hook that the instrumented code called
const Chain& chain_of(uint32_t site);

// Addresses

void map_launch(const Worker& worker, const Launch& launch);
void set_thread_index(const void* place);  // the address of the submission's threadIdx
Region* find_region(uintptr_t address);
uintptr_t module_base();
// Reports an access to memory that the kernel must not access; does nothing for a valid access.
void report_invalid_access(uintptr_t address, size_t bytes, bool write, uint32_t site);

// Findings

struct Place {
  uint32_t thread;
  uint32_t serial;
  uint32_t site;  // 0: `line` is used
  int line;
};

void report_finding(const char* kind, Certainty certainty, const char* detail, const Place& here, const Place* other = nullptr,
          uintptr_t address = 0);

// Shared and global memory

enum Flags : uint8_t {
  kRead = 0,
  kWrite = 1,
  kAtomic = 2,  // with kWrite: a read-modify-write, unless kStore is set
  kStore = 4,
  kVolatile = 8,
  kLock = 16,  // an operation that can acquire or release a lock
};
void touch(Region& region, uintptr_t address, size_t bytes, unsigned flags, uint32_t site);
void settle();    // resolves findings that could not be decided before the access
void conclude();  // settle, and findings that waited for the next access
void forget_order();       // a launch starts
void forget_block_order();  // a block starts

// Loads that run until the thread waits for them
extern bool loads_in_flight;
void look_at_flight(uintptr_t address, size_t bytes, uint32_t site);
// Whether the barrier at which a thread waits is s_barrier, and not __syncthreads().
bool is_at_bare_barrier(uint32_t thread);
void forget_loads();

// Accesses of 16 bytes to LDS
void note_wide_access(uintptr_t address, uint32_t site);
void conclude_wide_accesses();

// Waves
uint32_t last_meeting(uint32_t thread);

}  // namespace hipcpu::checks
