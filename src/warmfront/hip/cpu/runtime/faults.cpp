// Faults of the program. The first one is reported as a JSON object, and then the process ends.
//
// The plain loop over a block's threads does not record which thread runs, so that the compiler can keep the index
// in a register or vectorize the loop; nor does the second form of a kernel (hipcpu/thread_loops.h). When a thread
// faults there, the threads are replayed one at a time until one faults again. The replay repeats stores, but only the
// block itself reads them.
#include "faults.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include <hipcpu/hooks.h>

#include "checks.h"
#include "memory.h"
#include "stacks.h"
#include "stub_gpu.h"
#include "text.h"
#include "worker.h"

namespace hipcpu {

namespace {

constexpr int kInternalExit = 70;
constexpr unsigned kReplaySeconds = 1;
constexpr uintptr_t kNullBytes = 64 * 1024;       // a small offset from a null pointer counts as null
constexpr uintptr_t kNearStackBytes = 256 * 1024;

std::atomic<void (*)(const char*, size_t)> receiver{nullptr};
std::atomic<Worker*> replaying{nullptr};
std::atomic<bool> reporting{false};
char host_marker;  // claims a fault for an OS thread that is not a worker
std::atomic<void*> claimed{nullptr};

struct Fault {
  const char* kind;
  Text detail;
  int exit_code;
  uintptr_t address = 0;  // the address of the access
};

Fault first_fault;

void put(Text& json, const char* key, const Coordinates* at) {
  json << "," << "\"" << key << "\":";
  if (!at) {
    json << "null";
    return;
  }
  json << "[" << at->x << "," << at->y << "," << at->z << "]";
}

[[noreturn]] void report(const Fault& fault, const Worker* worker, bool knows_thread) {
  if (reporting.exchange(true))
    for (;;) pause();
  const Launch* launch = worker ? worker->launch : nullptr;
  if (stub::is_on() && launch && std::strcmp(fault.kind, "memory-fault") == 0)
    stub::abort_by_memory_fault(fault.address);
  Text json;
  json << "{\"fault\":" ;
  json.quote(fault.kind) << ",\"kernel\":";
  if (launch)
    json.quote(launch->kernel) << ",\"line\":" << static_cast<uint64_t>(launch->line);
  else
    json << "null,\"line\":null";
  put(json, "block", launch ? &worker->block.index : nullptr);
  put(json, "thread", launch && knows_thread ? &worker->places[worker->current] : nullptr);
  json << ",\"detail\":";
  json.quote(fault.detail.data()) << ",\"address\":" << fault.address << "}";
  if (auto* receive = receiver.load()) {
    receive(json.data(), json.size());
  } else {
    json << "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, json.data(), json.size());
  }
  _exit(fault.exit_code);
}

// A replay prints what the kernel has printed before, so its output is discarded.
void silence_stdout() {
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0)
    dup2(nowhere, STDOUT_FILENO);
  else
    close(STDOUT_FILENO);
}

void replay() {
  Worker& worker = *this_worker_if_any();
  worker.block.by_thread = true;
  run_threads_from(worker, worker.loop_from);
  end_replay(worker);
}

// Only the first fault is reported; other OS threads that fault wait for the process to end.
void claim(Worker* worker) {
  void* mine = worker ? static_cast<void*>(worker) : &host_marker;
  void* owner = nullptr;
  if (claimed.compare_exchange_strong(owner, mine) || owner == mine) return;
  for (;;) pause();
}

// Reports the fault, after finding out which thread caused it.
[[noreturn]] void handle(const Fault& fault) {
  Worker* worker = this_worker_if_any();
  if (worker && !worker->launch) worker = nullptr;
  claim(worker);
  const bool unrecorded = worker && (worker->pending == kPlainLoop || worker->pending == kInLoops);
  if (!unrecorded || kChecked || worker->replaying) report(fault, worker, worker != nullptr);
  first_fault = fault;
  worker->replaying = true;
  replaying = worker;
  silence_stdout();
  alarm(kReplaySeconds);  // the replay may wait for something that the first run has changed
  enter_home(*worker, replay);
  __builtin_unreachable();
}

uintptr_t stack_pointer(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#else
  return machine.sp;
#endif
}

const char* describe(Home home) {
  switch (home) {
    case Home::kDevice: return "hipMalloc";
    case Home::kManaged: return "hipMallocManaged";
    case Home::kPinned: return "hipHostMalloc";
    case Home::kRegistered: break;
  }
  return "registered host";
}

void describe_neighbor(Text& detail, uintptr_t address) {
  using Relation = Neighbor::Relation;
  const Neighbor n = neighbor_of(address);
  switch (n.relation) {
    case Relation::kNone:
      detail << "the address is not in any allocation";
      return;
    case Relation::kPastEnd:
      detail << n.distance << " bytes past the end of a ";
      break;
    case Relation::kBefore:
      detail << n.distance << " bytes before the start of a ";
      break;
    case Relation::kInside:
    case Relation::kFreed:
      detail << n.distance << " bytes into a ";
      break;
  }
  detail << n.bytes << "-byte " << describe(n.home) << " buffer";
  if (n.relation == Relation::kFreed) detail << " that has been freed";
  if (n.relation == Relation::kPastEnd) detail << " (index " << (n.bytes + n.distance) / 4 << " of 4-byte elements)";
}

bool is_dynamic_shared(const Worker& worker, uintptr_t address) {
  const auto end = reinterpret_cast<uintptr_t>(worker.shared_end);
  return address >= end && address - end < 4096;
}

void explain_kernel_access(Fault& fault, const Worker& worker, uintptr_t address) {
  fault.kind = "memory-fault";
  fault.address = address;
  if (is_stack_overflow(worker, address)) {
    fault.kind = "stack-overflow";
    fault.detail << "a thread used more than " << kPrivateBytes / 1024 << " KiB of private memory";
  } else if (address < kNullBytes) {
    fault.detail << "null pointer with an offset of " << address << " bytes";
  } else if (is_dynamic_shared(worker, address)) {
    const size_t bytes = worker.launch->config.shared_bytes;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(worker.shared_end) - (bytes + 15) / 16 * 16;
    fault.detail << address - begin - bytes << " bytes past the end of the launch's " << bytes
                 << " bytes of dynamic shared memory";
  } else {
    describe_neighbor(fault.detail, address);
  }
}

void explain_host_access(Fault& fault, uintptr_t address, uintptr_t stack) {
  const Neighbor n = neighbor_of(address);
  const uintptr_t distance = address < stack ? stack - address : address - stack;
  fault.kind = "host-fault";
  fault.address = address;
  if (address < kNullBytes) {
    fault.detail << "host code used a null pointer with an offset of " << address << " bytes";
  } else if (distance < kNearStackBytes) {
    fault.kind = "stack-overflow";
    fault.detail << "host code overflowed its stack";
  } else if (n.relation == Neighbor::Relation::kInside && n.home == Home::kDevice) {
    fault.kind = "host-access-to-device-memory";
    fault.detail << "host code used a device pointer, ";
    describe_neighbor(fault.detail, address);
  } else {
    fault.detail << "host code, ";
    describe_neighbor(fault.detail, address);
  }
}

bool is_misaligned(const siginfo_t& info) {
  return (info.si_signo == SIGSEGV && info.si_code == SI_KERNEL) ||
         (info.si_signo == SIGBUS && info.si_code == BUS_ADRALN);
}

void explain(Fault& fault, const siginfo_t& info, const void* context) {
  const Worker* worker = this_worker_if_any();
  const bool in_kernel = worker && worker->launch;
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  if (info.si_signo == SIGFPE) {
    fault.kind = "division-by-zero";
    fault.detail << "integer division by zero, or overflow of the quotient";
  } else if (info.si_signo == SIGABRT || info.si_signo == SIGILL) {
    fault.kind = "abort";
    fault.detail << (info.si_signo == SIGABRT ? "abort was called" : "a trap or an illegal instruction");
  } else if (is_misaligned(info)) {
    fault.kind = "misaligned-access";
    fault.detail << "a vector was accessed through a misaligned pointer, or the address is not valid";
  } else if (in_kernel) {
    explain_kernel_access(fault, *worker, address);
  } else {
    explain_host_access(fault, address, stack_pointer(context));
  }
}

void on_signal(int number, siginfo_t* info, void* context) {
  Fault fault{"", {}, 128 + number};
  explain(fault, *info, context);
  handle(fault);
}

void on_alarm(int) {
  if (Worker* worker = replaying.load()) end_replay(*worker);
}

__attribute__((constructor)) void watch() {
  use_signal_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // SA_NODEFER, because a replay faults again inside the handler.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
  struct sigaction timer = {};
  timer.sa_handler = on_alarm;
  sigaction(SIGALRM, &timer, nullptr);
}

}  // namespace

void use_signal_stack() {
  constexpr size_t kBytes = 64 * 1024;
  stack_t stack = {};
  stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stack.ss_size = kBytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

void die(const char* why) { fault("internal", why, kInternalExit); }

void fault(const char* kind, const char* detail, int exit_code) {
  Fault fault{kind, {}, exit_code};
  fault.detail << detail;
  handle(fault);
}

void end_replay(Worker& worker) { report(first_fault, &worker, false); }

}  // namespace hipcpu

extern "C" {

void hipcpu_kernel_fault(const char* kind, const char* detail) { hipcpu::fault(kind, detail, 134); }

void hipcpu_on_fault(void (*receive)(const char*, size_t)) { hipcpu::receiver = receive; }

// Called by glibc's assert; this version reports the thread.
void __assert_fail(const char* expression, const char* file, unsigned line, const char*) noexcept {
  hipcpu::Text detail;
  const char* name = std::strrchr(file, '/');
  detail << (name ? name + 1 : file) << ":" << uint64_t{line} << ": assertion failed: " << expression;
  hipcpu::fault("assertion", detail.data(), 134);
}
}
