// Launching kernels: the functions that the rewriter's output and hipLaunchKernelGGL call.
//
// The rewriter emits only these:
//   K<<<cfg...>>>(args...)         ::hipcpu::launch("K", __LINE__, ::hipcpu::config(cfg...),
//                                      [&](auto&... hipcpu_args) { K(hipcpu_args...); }, args...)
//   the same with launch_plain     if no token of the file can make a thread wait for another
//   ::hipcpu::forms(lambda HIPCPU_LOOPS(, lambda)) in place of the lambda if the kernel has a second form
//   extern __shared__ T s[];       in a function: auto* const s = ::hipcpu::dynamic_shared<T>();
//                                  at file scope: static ::hipcpu::DynamicShared<T> s;
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <hip/hip_runtime_api.h>
#include <hipcpu/checked.h>
#include <hipcpu/team.h>
#include <hipcpu/thread_loops.h>

namespace hipcpu {

struct Config {
  Coordinates grid;
  Coordinates block;
  size_t shared_bytes;
  hipStream_t stream;
};

// The block that a worker runs.
struct Block {
  Coordinates grid;
  Coordinates size;
  Coordinates index;
  bool waiting;    // its threads have their own stacks: run one and stop
  bool by_thread;  // do not use the kernel's second form, which does not record the running thread
};

// Runs the threads of a box of the block, up to the first one that waits.
using Threads = void (*)(const void* call, const Block& block, Coordinates from, Coordinates to);

}  // namespace hipcpu

extern "C" {
extern __thread unsigned char* hipcpu_dynamic_shared;
void hipcpu_launch(const hipcpu::Config* config, hipcpu::Threads threads, const void* call, const char* kernel,
                   int line);
}

namespace hipcpu {

inline Config config(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, stream};
}

// Reads the coordinates of the block one by one, as they were just written: a wider load cannot be forwarded from
// the store buffer and would wait for all stores of the previous block.
inline __attribute__((always_inline)) Coordinates index_of(const Block& block) {
  const volatile Coordinates& index = block.index;
  return {index.x, index.y, index.z};
}

// Calls `visit` for each thread of the box, with the built-in variables of that thread, until it returns false.
//
// The inner loop counts threads over the whole grid with a signed counter, so that the compiler recognizes
// `blockIdx.x * blockDim.x + threadIdx.x` as the counter of the loop, and can vectorize it.
template <class Visit>
inline __attribute__((always_inline)) void for_threads(const Block& block, Coordinates from, Coordinates to,
                                                       Visit visit) {
  const Coordinates size = block.size, index = index_of(block);
  const unsigned before = index.x * size.x;
  const int first = static_cast<int>(before + from.x), last = static_cast<int>(before + to.x);
  gridDim = block.grid;
  blockDim = size;
  blockIdx = index;
  left_loop = block.waiting;
  for (unsigned z = from.z; z < to.z; ++z)
    for (unsigned y = from.y; y < to.y; ++y)
      for (int thread = first; thread < last; ++thread) {
        if (thread < 0) __builtin_unreachable();  // hipcpu_launch has checked it
        threadIdx = {static_cast<unsigned>(thread) - before, y, z};
#ifdef HIPCPU_CHECKED
        hipcpu_checked_begin(thread_in_block(), &threadIdx);
        const bool more = visit();
        hipcpu_checked_end();
        if (!more) return;
#else
        if (!visit()) return;
#endif
      }
}

template <class Call>
void run_threads(const void* stored, const Block& block, Coordinates from, Coordinates to) {
  const Call call = *static_cast<const Call*>(stored);  // a copy in registers, which no store of the kernel can change
  for_threads(block, from, to, [&]() __attribute__((always_inline)) {
    call();
    return !left_loop;
  });
}

template <class Call>
void run_plain_threads(const void* stored, const Block& block, Coordinates from, Coordinates to) {
  const Call call = *static_cast<const Call*>(stored);
  for_threads(block, from, to, [&]() __attribute__((always_inline)) {
    call();
    return true;
  });
}

template <class Kernel, class... Args>
inline void launch(const char* name, int line, const Config& config, Kernel kernel, Args... args) {
  auto call = [=]() __attribute__((always_inline)) { kernel(args...); };
  hipcpu_launch(&config, run_threads<decltype(call)>, &call, name, line);
}

template <class Kernel, class... Args>
inline void launch_plain(const char* name, int line, const Config& config, Kernel kernel, Args... args) {
  auto call = [=]() __attribute__((always_inline)) { kernel(args...); };
  hipcpu_launch(&config, run_plain_threads<decltype(call)>, &call, name, line);
}

// A kernel with a second form, which runs a whole block or returns false.
template <class Kernel, class Loops>
struct TwoForms {
  Kernel kernel;
  Loops loops;
};
template <class Kernel>
inline Kernel forms(Kernel kernel) {
  return kernel;
}
template <class Kernel, class Loops>
inline TwoForms<Kernel, Loops> forms(Kernel kernel, Loops loops) {
  return {kernel, loops};
}

inline bool is_whole(const Block& block, const Coordinates& from, const Coordinates& to) {
  return !block.waiting && !block.by_thread && (from.x | from.y | from.z) == 0 && to.x == block.size.x &&
         to.y == block.size.y && to.z == block.size.z;
}

// Runs the block with the kernel's second form, if it can.
template <class Loops>
inline bool try_loops(const Loops& loops, const Block& block, const Coordinates& from, const Coordinates& to) {
  if (!is_whole(block, from, to)) return false;
  Team& team = *hipcpu_team;
  const uint32_t pending = team.pending;
  team.pending = kInLoops;
  const bool done = loops(block);
  team.pending = pending;
  return done;
}

// Optimized for size: the second form runs nearly all blocks, and this one halves the time to compile both.
template <class Call>
__attribute__((cold, noinline)) void run_threads_rarely(const Call& call, const Block& block, Coordinates from,
                                                        Coordinates to) {
  for_threads(block, from, to, [&]() __attribute__((always_inline)) {
    call();
    return !left_loop;
  });
}

template <class Call>
void run_loops(const void* stored, const Block& block, Coordinates from, Coordinates to) {
  const auto& forms = *static_cast<const Call*>(stored);
  if (try_loops(forms.loops, block, from, to)) return;
  run_threads_rarely(forms.kernel, block, from, to);
}

template <class Call>
void run_plain_loops(const void* stored, const Block& block, Coordinates from, Coordinates to) {
  const auto& forms = *static_cast<const Call*>(stored);
  if (try_loops(forms.loops, block, from, to)) return;
  run_plain_threads<decltype(forms.kernel)>(&forms.kernel, block, from, to);
}

template <class Kernel, class Loops, class... Args>
inline auto with_arguments(const TwoForms<Kernel, Loops>& both, Args... args) {
  return forms([=]() __attribute__((always_inline)) { both.kernel(args...); },
               [=](const Block& block) __attribute__((always_inline)) { return both.loops(block, args...); });
}

template <class Kernel, class Loops, class... Args>
inline void launch(const char* name, int line, const Config& config, TwoForms<Kernel, Loops> both, Args... args) {
  const auto calls = with_arguments(both, args...);
  hipcpu_launch(&config, run_loops<decltype(calls)>, &calls, name, line);
}

template <class Kernel, class Loops, class... Args>
inline void launch_plain(const char* name, int line, const Config& config, TwoForms<Kernel, Loops> both,
                         Args... args) {
  const auto calls = with_arguments(both, args...);
  hipcpu_launch(&config, run_plain_loops<decltype(calls)>, &calls, name, line);
}

template <class T>
inline T* dynamic_shared() {
  return reinterpret_cast<T*>(hipcpu_dynamic_shared);
}

// Replaces `extern __shared__ T s[];` at file scope: converts to the pointer.
template <class T>
struct DynamicShared {
  constexpr DynamicShared() = default;
  operator T*() const { return dynamic_shared<T>(); }
  T* operator&() const { return dynamic_shared<T>(); }
};

}  // namespace hipcpu

#define HIP_KERNEL_NAME(...) __VA_ARGS__

#define HIPCPU_LAUNCH(kernel, name, grid, block, shared_bytes, stream, ...)                       \
  ::hipcpu::launch(name, __LINE__, ::hipcpu::config(grid, block, shared_bytes, stream),           \
                   [&](auto&... hipcpu_args) { kernel(hipcpu_args...); } __VA_OPT__(, ) __VA_ARGS__)
#define hipLaunchKernelGGL(kernel, ...) HIPCPU_LAUNCH((kernel), #kernel, __VA_ARGS__)

// Launches by address: that of the kernel, and those of its arguments.
template <class... Parameters>
inline hipError_t hipLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** args,
                                  size_t shared_bytes = 0, hipStream_t stream = nullptr) {
  const auto call = [kernel](auto&... values) { kernel(values...); };
  const auto go = [&]<size_t... I>(std::index_sequence<I...>) {
    hipcpu::launch("hipLaunchKernel", 0, hipcpu::config(grid, block, shared_bytes, stream), call,
                   *static_cast<std::remove_cvref_t<Parameters>*>(args[I])...);
  };
  go(std::index_sequence_for<Parameters...>{});
  return hipPeekAtLastError();
}

// Blocks of a cooperative grid run one after another here, so the grid has no barrier.
template <class... Parameters>
inline hipError_t hipLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** args,
                                             unsigned shared_bytes, hipStream_t stream) {
  return hipLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

__attribute__((error("hipLaunchKernel of an untyped pointer runs on a GPU only: write kernel<<<...>>>(...)")))
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);
__attribute__((error("hipLaunchCooperativeKernel of an untyped pointer runs on a GPU only: remove the cast")))
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t);
