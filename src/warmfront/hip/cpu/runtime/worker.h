// The internal state of the runtime: workers and launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <hip/hip_runtime_api.h>
#include <hipcpu/launch.h>
#include <hipcpu/team.h>

namespace hipcpu {

// A running launch.
struct Launch {
  Config config;
  Threads threads;
  const void* call;
  const char* kernel;
  int line;
  uint64_t blocks;
  uint64_t chunk;  // the number of blocks that a worker takes at a time
  std::atomic<uint64_t> next{0};
};

enum class State : uint8_t { kFresh, kReady, kAtWave, kAtBlock, kEnded };

// The state of the scheduler when threads diverge.
struct Schedule {
  State state[kMaxThreads];
  uint32_t site[kMaxThreads];
  uint32_t wave;   // the first thread of the running wave
  uint32_t scan;   // threads of the wave before this one have run
  uint32_t lanes;  // the lanes of the wave that wait at a wave operation
  uint32_t live;
};

constexpr size_t kPrivateBytes = 256 * 1024;  // private memory per thread

// An OS thread that runs blocks, one at a time.
struct Worker : Team {
  const Launch* launch;  // null while host code runs
  Block block;
  uint32_t started;    // threads of the block before this one have started
  uint32_t loop_from;  // where the plain loop began
  uint32_t resume_at;  // where it continues
  Slot outside;        // the OS thread's own stack
  Slot home;           // the stack of the plain loop
  char* stacks;
  uint32_t usable_stacks;
  unsigned char* shared_end;  // the end of dynamic shared memory
  Coordinates places[kMaxThreads];
  Schedule schedule;
  bool replaying;  // searching for the thread that faulted
};

Worker& this_worker();                         // created on first use
Worker* this_worker_if_any();                  // safe in a signal handler
void run_blocks(Worker& worker, Launch& launch);  // runs blocks until none is left
void run_block(Worker& worker);
void run_threads_from(Worker& worker, uint32_t next);  // the rest of a block, from this thread on
void run_thread();  // the body of a thread with its own stack; does not return
bool is_stack_overflow(const Worker& worker, uintptr_t address);

}  // namespace hipcpu
