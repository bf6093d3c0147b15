// The thread pool: one OS thread per core, and launches that distribute blocks in order.
// Between launches, each worker spins for a while before it sleeps, so that it need not be woken in a series
// of small kernels. Nothing here is destroyed at exit, because a worker may still be running.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <hipcpu/hooks.h>

#include "checks.h"
#include "faults.h"
#include "memory.h"
#include "stacks.h"
#include "status.h"
#include "streams.h"
#include "stub_gpu.h"
#include "target.h"
#include "worker.h"

extern "C" {
__thread hipcpu::Team* hipcpu_team;
__thread unsigned char* hipcpu_dynamic_shared;
// The C library places the thread-local memory of a library that is loaded later at no larger alignment than that of the
// program's own. Nothing reads this variable.
alignas(HIPCPU_MAX_SHARED_ALIGNMENT) __thread unsigned char hipcpu_shared_alignment;
}

namespace hipcpu {

namespace {

__thread Worker* mine;
std::atomic<unsigned long long> launches{0};

constexpr size_t kPageBytes = 4096;
constexpr int kSpins = 1500;  // a few tens of microseconds

unsigned char* make_dynamic_shared() {
  const size_t bytes = kSharedBytes + 2 * kPageBytes;
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("out of memory for dynamic shared memory");
  auto* begin = static_cast<unsigned char*>(memory) + kPageBytes;
  mprotect(begin, kSharedBytes, PROT_READ | PROT_WRITE);
  return begin + kSharedBytes;
}

Worker* make_worker() {
  void* memory =
      mmap(nullptr, sizeof(Worker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("out of memory for a worker");
  auto* worker = new (memory) Worker{};
  make_stacks(*worker);
  worker->shared_end = make_dynamic_shared();
  use_signal_stack();
  return worker;
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

// Waits until `value` differs from `old`: spins for a while, then sleeps.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

struct Pool {
  std::mutex one_launch_at_a_time;
  std::once_flag started;
  unsigned helpers = 0;  // workers in addition to the launching thread
  std::atomic<bool> uses_helpers{true};
  std::atomic<uint32_t> generation{0};
  // The helpers in the launch, and whether more may join: a launch does not wait for one that wakes late.
  std::atomic<uint32_t> members{0};
  Launch* launch = nullptr;
};

constexpr uint32_t kOpen = 1u << 31;

Pool& pool() {
  static Pool& only = *new Pool;
  return only;
}

bool join(Pool& p) {
  uint32_t members = p.members.load(std::memory_order_relaxed);
  while (members & kOpen)
    if (p.members.compare_exchange_weak(members, members + 1, std::memory_order_acquire)) return true;
  return false;
}

void* help(void*) {
  Pool& p = pool();
  Worker& worker = this_worker();
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(p.generation, seen);
    if (!join(p)) continue;
    run_blocks(worker, *p.launch);
    if (p.members.fetch_sub(1, std::memory_order_release) == 1) p.members.notify_one();
  }
}

unsigned cores() {
  if (kChecked) return 1;  // the bug finder supports a single worker
  if (const char* wanted = std::getenv("HIPCPU_WORKERS")) return std::max(1, std::atoi(wanted));
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void start_helpers() {
  Pool& p = pool();
  for (unsigned wanted = cores() - 1; p.helpers < wanted; ++p.helpers) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, help, nullptr) != 0) return;  // continue with fewer workers
    pthread_detach(thread);
  }
}

void run_everywhere(Launch& launch) {
  Pool& p = pool();
  if (p.helpers == 0 || launch.blocks == 1 || !p.uses_helpers.load(std::memory_order_relaxed))
    return run_blocks(this_worker(), launch);
  p.launch = &launch;
  p.members.store(kOpen, std::memory_order_release);
  p.generation.fetch_add(1, std::memory_order_release);
  p.generation.notify_all();
  run_blocks(this_worker(), launch);
  uint32_t members = p.members.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (members != 0) members = wait_for_change(p.members, members);
}

// The limits of the GPU; all architectures have the same, except that of shared memory.
bool is_valid(const Config& c) {
  constexpr uint64_t kMaxGrid = 0xffffffffull;  // threads per dimension
  const uint64_t threads = uint64_t{c.block.x} * c.block.y * c.block.z;
  if (threads == 0 || c.block.x > kMaxThreads || c.block.y > kMaxThreads || c.block.z > kMaxThreads) return false;
  if (threads > kMaxThreads || c.shared_bytes > target().shared_bytes) return false;
  if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0 || c.grid.y > 65536 || c.grid.z > 65536) return false;
  return uint64_t{c.grid.x} * c.block.x <= kMaxGrid;
}

void stand_before(Worker& worker, const Launch& launch) {
  const Coordinates& size = launch.config.block;
  worker.launch = &launch;
  hipcpu_dynamic_shared = worker.shared_end - (launch.config.shared_bytes + 15) / 16 * 16;
  worker.block.grid = launch.config.grid;
  if (std::memcmp(&worker.block.size, &size, sizeof size) == 0) return;
  worker.block.size = size;
  worker.count = 0;
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x) worker.places[worker.count++] = {x, y, z};
}

__thread Launch* to_run;

void run_chunk(Worker& worker, uint64_t first, uint64_t count) {
  const Coordinates& grid = worker.block.grid;
  Coordinates& index = worker.block.index;
  index.x = static_cast<unsigned>(first % grid.x);
  index.y = static_cast<unsigned>(first / grid.x % grid.y);
  index.z = static_cast<unsigned>(first / grid.x / grid.y);
  for (; count; --count) {
    run_block(worker);
    if (++index.x < grid.x) continue;
    index.x = 0;
    if (++index.y < grid.y) continue;
    index.y = 0;
    ++index.z;
  }
}

// Runs blocks in order until none is left, on the home stack.
[[noreturn]] void run_home() {
  Worker& worker = *mine;
  Launch& launch = *to_run;
  for (;;) {
    const uint64_t block = launch.next.fetch_add(launch.chunk, std::memory_order_relaxed);
    if (block >= launch.blocks) break;
    run_chunk(worker, block, std::min(launch.chunk, launch.blocks - block));
  }
  leave_thread(&worker.outside);
}

}  // namespace

Worker* this_worker_if_any() { return mine; }

Worker& this_worker() {
  if (!mine) hipcpu_team = mine = make_worker();
  return *mine;
}

void run_blocks(Worker& worker, Launch& launch) {
  if (launch.next.load(std::memory_order_relaxed) >= launch.blocks) return;
  stand_before(worker, launch);
  to_run = &launch;
  enter_home(worker, run_home);
  worker.launch = nullptr;
}

}  // namespace hipcpu

using namespace hipcpu;

extern "C" void hipcpu_launch(const Config* config, Threads threads, const void* call, const char* kernel, int line) {
  if (mine && mine->launch) fault("unsupported", "a kernel launched a kernel: this runs on a GPU only", 134);
  const stub::Call call_of_host;
  if (call_of_host.error() != hipSuccess) {
    set_last_error(call_of_host.error());
    return;
  }
  if (!is_valid(*config)) {
    set_last_error(hipErrorInvalidConfiguration);
    return;
  }
  if (!is_stream(config->stream)) {
    set_last_error(hipErrorContextIsDestroyed);
    return;
  }
  if (uint64_t{config->grid.x} * config->block.x > INT_MAX)
    fault("unsupported", "a grid of more than 2^31 - 1 threads in x: this runs on a GPU only", 134);
  if (const hipError_t error = stub::is_on() ? stub::begin_launch() : hipSuccess; error != hipSuccess) {
    set_last_error(error);
    return;
  }
  hipcpu_start_workers();
  Pool& p = pool();
  const std::lock_guard lock(p.one_launch_at_a_time);
  const uint64_t blocks = uint64_t{config->grid.x} * config->grid.y * config->grid.z;
  const uint64_t chunk = std::clamp<uint64_t>(blocks / (8 * (p.helpers + 1)), 1, 64);
  Launch launch{*config, threads, call, kernel, line, blocks, chunk};
  const DeviceAccess access;
  checks::begin_launch(this_worker(), launch);
  run_everywhere(launch);
  checks::end_launch();
  launches.fetch_add(1, std::memory_order_relaxed);
  if (!stub::is_on()) return;
  stub::touched(first_access_of_all());
  const uint64_t threads_per_block = uint64_t{config->block.x} * config->block.y * config->block.z;
  stub::end_launch(*queue_of(config->stream), kernel, blocks * threads_per_block);
}

extern "C" void hipcpu_start_workers() {
  std::call_once(pool().started, start_helpers);
}

extern "C" void hipcpu_limit_workers(unsigned limit) { pool().uses_helpers.store(limit > 1, std::memory_order_relaxed); }

extern "C" unsigned long long hipcpu_launch_count() { return launches.load(); }
