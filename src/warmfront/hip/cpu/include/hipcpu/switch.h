// Switching from one thread of a block to another: the only code that depends on the processor.
//
// It is inlined where a thread waits, and declares every register as clobbered, so that the compiler saves only
// what is still needed, in the thread's frame. Nothing is pushed on the stack: the red zone stays intact.
#pragma once

namespace hipcpu {

// Where a waiting thread continues.
struct Slot {
  void* stack;
  void* frame;
  void* code;
};

#if defined(__x86_64__)

#ifdef __AVX512F__
#define HIPCPU_WIDE_REGISTERS                                                                          \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
      "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define HIPCPU_WIDE_REGISTERS
#endif

inline __attribute__((always_inline)) void switch_thread(Slot* from, const Slot* to) {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rax, 16(%0)\n\t"
      "movq 0(%1), %%rsp\n\t"
      "movq 8(%1), %%rbp\n\t"
      "jmpq *16(%1)\n"
      "1:"
      : "+D"(from), "+S"(to)
      :
      : "memory", "cc", "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15" HIPCPU_WIDE_REGISTERS);
}

[[noreturn]] inline __attribute__((always_inline)) void leave_thread(const Slot* to) {
  asm volatile(
      "movq 0(%0), %%rsp\n\t"
      "movq 8(%0), %%rbp\n\t"
      "jmpq *16(%0)"
      :
      : "r"(to)
      : "memory");
  __builtin_unreachable();
}

#elif defined(__aarch64__)

#ifdef __ARM_FEATURE_SVE
#define HIPCPU_WIDE_REGISTERS                                                                                  \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "ffr"
#else
#define HIPCPU_WIDE_REGISTERS
#endif

inline __attribute__((always_inline)) void switch_thread(Slot* from, const Slot* to) {
  register Slot* from_ asm("x0") = from;
  register const Slot* to_ asm("x1") = to;
  asm volatile(
      "adr x2, 1f\n\t"
      "mov x3, sp\n\t"
      "stp x3, x29, [x0]\n\t"
      "str x2, [x0, #16]\n\t"
      "ldp x3, x29, [x1]\n\t"
      "ldr x2, [x1, #16]\n\t"
      "mov sp, x3\n\t"
      "br x2\n"
      "1:"
      : "+r"(from_), "+r"(to_)
      :
      : "memory", "cc", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
        "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
        "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
        "v29", "v30", "v31" HIPCPU_WIDE_REGISTERS);
}

[[noreturn]] inline __attribute__((always_inline)) void leave_thread(const Slot* to) {
  register const Slot* to_ asm("x1") = to;
  asm volatile(
      "ldp x3, x29, [x1]\n\t"
      "ldr x2, [x1, #16]\n\t"
      "mov sp, x3\n\t"
      "br x2"
      :
      : "r"(to_)
      : "memory", "x2", "x3");
  __builtin_unreachable();
}

#else
#error "The CPU runtime for HIP supports x86-64 and aarch64."
#endif

}  // namespace hipcpu
