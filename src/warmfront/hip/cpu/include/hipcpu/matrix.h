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
  unsigned char a[kWaveSize * 32];
  unsigned char b[kWaveSize * 32];
  unsigned char c[kWaveSize * 128];
  uint32_t index[kWaveSize];               // which elements of a sparse A are stored
  uint32_t scale_a[kWaveSize], scale_b[kWaveSize];
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
// If `ocp`, "fp8" and "bf8" are the formats of OCP, as on gfx950.
void hipcpu_multiply(hipcpu::MatrixForm form, const hipcpu::MatrixCall* call, bool ocp, uint64_t lanes);
}

namespace hipcpu {

// In a checked build these stay functions of their own: inlined in a kernel, their writes to the buffer, which lies
// beside shared memory, would be reported as the kernel's. They are not templates, because g++ would instantiate them
// for every form, even in a source that uses only one.
#ifdef HIPCPU_CHECKED
#define HIPCPU_MULTIPLY HIPCPU_UNCHECKED static __attribute__((noinline))
#else
#define HIPCPU_MULTIPLY static inline __attribute__((always_inline))
#endif

#ifdef HIPCPU_GFX950
constexpr bool kHasOcpFp8 = true;
#else
constexpr bool kHasOcpFp8 = false;
#endif

// The kind of a wave operation: no other has the highest bit set. The forms of each table have their own numbers.
constexpr uint32_t kMatrixKind = 1u << 7, kSparseKind = kMatrixKind + 64, kScaledKind = kMatrixKind + 96;

// Writes the operands of this lane.
HIPCPU_MULTIPLY void write_operands(const void* a, size_t a_bytes, const void* b, size_t b_bytes, const void* c,
                                    size_t c_bytes) {
  MatrixOperands& operands = hipcpu_matrix;
  const uint32_t lane = thread_in_block() % kWaveSize;
  std::memcpy(operands.a + lane * a_bytes, a, a_bytes);
  std::memcpy(operands.b + lane * b_bytes, b, b_bytes);
  std::memcpy(operands.c + lane * c_bytes, c, c_bytes);
}

// Waits for the wave. Returns the lanes that wait together if this lane is to compute the results, otherwise 0.
HIPCPU_MULTIPLY uint64_t meet_for_matrix(uint32_t kind, int line) {
  wait_for_wave(kind << 24 | (static_cast<uint32_t>(line) & 0xffffff), 1);
  const uint64_t lanes = received().votes;
  return thread_in_block() % kWaveSize == static_cast<uint32_t>(__builtin_ctzll(lanes)) ? lanes : 0;
}

HIPCPU_MULTIPLY void read_results(void* d, size_t bytes) {
  std::memcpy(d, hipcpu_matrix.c + thread_in_block() % kWaveSize * bytes, bytes);
}

}  // namespace hipcpu

#define HIPCPU_DENSE(name, A, C, ...)                                                                               \
  static inline hipcpu::C __builtin_amdgcn_mfma_##name(hipcpu::Operand<hipcpu::A> a, hipcpu::Operand<hipcpu::A> b,  \
                                                       hipcpu::Operand<hipcpu::C> c, int cbsz, int abid, int blgp,  \
                                                       int line = __builtin_LINE()) {                               \
    constexpr hipcpu::MatrixForm kForm = hipcpu::MatrixForm::name;                                                  \
    hipcpu::write_operands(&a, sizeof a, &b, sizeof b, &c, sizeof c);                                               \
    const uint64_t lanes = hipcpu::meet_for_matrix(hipcpu::kMatrixKind + static_cast<uint32_t>(kForm), line);       \
    const hipcpu::MatrixCall call{cbsz, abid, blgp, line};                                                          \
    if (lanes != 0) hipcpu_multiply(kForm, &call, hipcpu::kHasOcpFp8, lanes);                                       \
    hipcpu::read_results(&c, sizeof c);                                                                             \
    return c;                                                                                                       \
  }
HIPCPU_DENSE_FORMS(HIPCPU_DENSE)
#ifndef HIPCPU_GFX950
HIPCPU_GFX942_FORMS(HIPCPU_DENSE)
#endif
