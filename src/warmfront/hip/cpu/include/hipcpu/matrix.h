// Matrix instructions: __builtin_amdgcn_mfma_*, as operations of a whole wave.
//
// Every lane writes its operands to the buffer of its worker and waits for the others once. The first lane that continues
// then computes the results of all lanes, in the runtime, before any other lane does.
#pragma once

#include <cstdint>
#include <cstring>

#include <hipcpu/checked.h>
#include <hipcpu/matrix_forms.h>
#include <hipcpu/wave.h>

namespace hipcpu {

// The operands of a wave, lane after lane; the results replace C.
struct alignas(64) MatrixOperands {
  unsigned char a[kWaveSize * 8];
  unsigned char b[kWaveSize * 16];
  unsigned char c[kWaveSize * 128];
  uint32_t index[kWaveSize];  // of a sparse A
};

// The immediate operands of an instruction, and where it is.
struct MatrixCall {
  int cbsz, abid, blgp;
  int line;
};

}  // namespace hipcpu

extern "C" {
extern __thread hipcpu::MatrixOperands hipcpu_matrix;
// Multiplies the operands that `lanes` have written. It is a fault if they are not all lanes of a wave.
void hipcpu_multiply(hipcpu::MatrixForm form, const hipcpu::MatrixCall* call, uint64_t lanes);
}

namespace hipcpu {

// In a checked build it stays a function of its own: inlined in a kernel, its writes to the buffer, which lies beside shared
// memory, would be reported as the kernel's.
#ifdef HIPCPU_CHECKED
#define HIPCPU_MULTIPLY HIPCPU_UNCHECKED static __attribute__((noinline))
#else
#define HIPCPU_MULTIPLY static inline __attribute__((always_inline))
#endif

template <MatrixForm form, class A, class C>
HIPCPU_MULTIPLY C multiply(const A& a, const A& b, const C& c, const MatrixCall& call) {
  MatrixOperands& operands = hipcpu_matrix;
  const uint32_t lane = thread_in_block() % kWaveSize;
  std::memcpy(operands.a + lane * sizeof(A), &a, sizeof(A));
  std::memcpy(operands.b + lane * sizeof(A), &b, sizeof(A));
  std::memcpy(operands.c + lane * sizeof(C), &c, sizeof(C));
  // No other kind of operation has the highest bit set.
  wait_for_wave(1u << 31 | static_cast<uint32_t>(form) << 24 | (call.line & 0xffffff), 1);
  const uint64_t lanes = received().votes;
  if (lane == static_cast<uint32_t>(__builtin_ctzll(lanes))) hipcpu_multiply(form, &call, lanes);
  C d;
  std::memcpy(&d, operands.c + lane * sizeof(C), sizeof(C));
  return d;
}

}  // namespace hipcpu

// No templates, so that a message about a wrong operand says which one, and what it must be.
#define HIPCPU_DENSE(name, A, C, ...)                                                                   \
  static inline hipcpu::C __builtin_amdgcn_mfma_##name(hipcpu::A a, hipcpu::A b, hipcpu::C c, int cbsz, \
                                                       int abid, int blgp, int line = __builtin_LINE()) { \
    return hipcpu::multiply<hipcpu::MatrixForm::name>(a, b, c, {cbsz, abid, blgp, line});               \
  }
HIPCPU_DENSE_FORMS(HIPCPU_DENSE)
#undef HIPCPU_DENSE
#undef HIPCPU_MULTIPLY
