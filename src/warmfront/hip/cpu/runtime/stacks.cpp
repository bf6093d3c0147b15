// Stacks for the threads of a block: 256 KiB each, created when first needed, with a guard page below.
//
// The plain loop over a block's threads runs on stack 0, the home stack. A thread that waits there keeps it, and
// the n-th thread after it gets stack n.
#include "stacks.h"

#include <sys/mman.h>
#include <unistd.h>

#include "faults.h"

namespace hipcpu {

namespace {

constexpr size_t kGuardBytes = 64 * 1024;  // wide, so that a large frame does not skip it
// Stacks at the same offset in their pages would compete for the same cache lines.
constexpr size_t kColorBytes = 16 * 1024;
constexpr size_t kColorStep = 320;
constexpr size_t kStride = kGuardBytes + kPrivateBytes + kColorBytes;
constexpr size_t kStacks = kMaxThreads + 1;

// The entry point of a new stack: calls the function whose address the slot has in place of a frame.
extern "C" void hipcpu_enter();

#if defined(__x86_64__)
asm(R"(
.text
.globl hipcpu_enter
.type hipcpu_enter, @function
hipcpu_enter:
  .cfi_startproc
  .cfi_undefined rip
  movq %rbp, %rax
  xorl %ebp, %ebp
  callq *%rax
  ud2
  .cfi_endproc
.size hipcpu_enter, .-hipcpu_enter
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl hipcpu_enter
.type hipcpu_enter, %function
hipcpu_enter:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x29
  mov x29, xzr
  blr x0
  brk #1
  .cfi_endproc
.size hipcpu_enter, .-hipcpu_enter
)");
#endif

Slot begin_at(void* top, void (*function)()) {
  return {top, reinterpret_cast<void*>(function), reinterpret_cast<void*>(hipcpu_enter)};
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13: a guard that does not split the mapping
#endif

void make_usable(Worker& worker, uint32_t stacks) {
  for (; worker.usable_stacks < stacks; ++worker.usable_stacks) {
    char* guard = worker.stacks + worker.usable_stacks * kStride;
    if (madvise(guard, kGuardBytes, MADV_GUARD_INSTALL) == 0) continue;
    if (mprotect(guard, kGuardBytes, PROT_NONE) != 0) die("out of memory for the stacks of a block's threads");
  }
}

void* top_of(const Worker& worker, uint32_t stack) {
  const size_t color = stack * kColorStep % kColorBytes & ~size_t{63};
  return worker.stacks + (stack + 1) * kStride - color;
}

}  // namespace

void make_stacks(Worker& worker) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, kStacks * kStride, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (memory == MAP_FAILED) die("out of address space for the stacks of a block's threads");
  worker.stacks = static_cast<char*>(memory);
}

void prepare_thread(Worker& worker, uint32_t thread) {
  const uint32_t stack = thread - worker.first;
  if (stack >= worker.usable_stacks) {
    if (stack >= kStacks) return;
    make_usable(worker, stack + 1);
  }
  worker.slots[thread] = begin_at(top_of(worker, stack), run_thread);
}

void enter_home(Worker& worker, void (*function)()) {
  make_usable(worker, 1);
  const Slot start = begin_at(top_of(worker, 0), function);
  switch_thread(&worker.outside, &start);
}

bool is_stack_overflow(const Worker& worker, uintptr_t address) {
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(worker.stacks);
  return offset < kStacks * kStride && offset % kStride < kGuardBytes;
}

}  // namespace hipcpu
