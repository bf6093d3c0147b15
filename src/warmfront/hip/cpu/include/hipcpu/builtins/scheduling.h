// Builtins that order or time instructions, and those that return a thread's position. The order of instructions does
// not change results here: a load is complete when it returns. The bug finder follows the waits.
#pragma once

#include <hipcpu/builtins/words.h>
#include <hipcpu/math.h>
#include <hipcpu/wave.h>

namespace hipcpu {

// The most memory operations of the thread that may still be running.
inline void wait_for_memory(unsigned vector_memory, unsigned lds) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_wait(vector_memory, lds);
#else
  (void)vector_memory;
  (void)lds;
#endif
}

constexpr unsigned kNoWait = ~0u;

// A barrier without the waits that __syncthreads has.
inline __attribute__((always_inline)) void bare_barrier(int line) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_bare_barrier();
#endif
  wait_for_block(line);
}

struct FenceOrder {
  int value;
  template <class T>
  consteval FenceOrder(T given) : value(static_cast<int>(given)) {
    if (value < __ATOMIC_ACQUIRE || value > __ATOMIC_SEQ_CST) rejected_fence_order();
  }
};

}  // namespace hipcpu

static inline __attribute__((always_inline)) void __builtin_amdgcn_s_barrier(int line = __builtin_LINE()) {
  hipcpu::bare_barrier(line);
}
// Lanes do not wait for each other on a GPU either: it only stops the compiler from moving code.
static inline __attribute__((always_inline)) void __builtin_amdgcn_wave_barrier(int line = __builtin_LINE()) {
  hipcpu::wait_for_wave(hipcpu::site_of(line, hipcpu::Meeting::kSync), 0);
}
static inline void __builtin_amdgcn_sched_barrier(hipcpu::Constant) {}
static inline void __builtin_amdgcn_sched_group_barrier(hipcpu::Constant, hipcpu::Constant, hipcpu::Constant) {}
static inline void __builtin_amdgcn_iglp_opt(hipcpu::Constant) {}
static inline void __builtin_amdgcn_s_setprio(hipcpu::Constant) {}
static inline void __builtin_amdgcn_s_sleep(hipcpu::Constant) {}
static inline void __builtin_amdgcn_s_incperflevel(hipcpu::Constant) {}
static inline void __builtin_amdgcn_s_decperflevel(hipcpu::Constant) {}
static inline void __builtin_amdgcn_s_dcache_inv() {}
static inline void __builtin_amdgcn_s_dcache_wb() {}
static inline void __builtin_amdgcn_buffer_wbinvl1() {}
// The counters of gfx9: vector memory in bits 3:0 and 15:14, LDS in bits 11:8.
static inline void __builtin_amdgcn_s_waitcnt(hipcpu::Constant counters) {
  const auto bits = static_cast<unsigned>(counters.value);
  hipcpu::wait_for_memory((bits & 15) | (bits >> 14 & 3) << 4, bits >> 8 & 15);
}
template <class... AddressSpaces>
HIPCPU_BUILTIN_TEMPLATE void __builtin_amdgcn_fence(hipcpu::FenceOrder, const char*, AddressSpaces...) {
  hipcpu::wait_for_memory(0, 0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline unsigned long long __builtin_amdgcn_s_memtime() { return static_cast<unsigned long long>(clock64()); }
static inline unsigned long long __builtin_amdgcn_s_memrealtime() {
  return static_cast<unsigned long long>(wall_clock64());
}

#define HIPCPU_POSITION(axis)                                                                                \
  static inline unsigned __builtin_amdgcn_workitem_id_##axis() { return threadIdx.axis; }                    \
  static inline unsigned __builtin_amdgcn_workgroup_id_##axis() { return blockIdx.axis; }                    \
  static inline unsigned short __builtin_amdgcn_workgroup_size_##axis() {                                    \
    return static_cast<unsigned short>(blockDim.axis);                                                       \
  }                                                                                                          \
  static inline unsigned __builtin_amdgcn_grid_size_##axis() { return gridDim.axis * blockDim.axis; }
HIPCPU_POSITION(x)
HIPCPU_POSITION(y)
HIPCPU_POSITION(z)
#undef HIPCPU_POSITION
static inline unsigned __builtin_amdgcn_wavefrontsize() { return hipcpu::kWaveSize; }
