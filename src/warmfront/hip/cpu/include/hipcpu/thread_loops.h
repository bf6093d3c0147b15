// The second form of a kernel: a function that runs a whole block, with loops over its threads between barriers.
//
// The rewriter writes it for kernels that it recognizes (warmfront/hip/source/thread_loops.py), in terms of these
// macros. It returns false, before it has any effect, if the block must be run thread by thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <hipcpu/core.h>

// Nothing in a checked build, which reports accesses by thread. If a second form does not compile, the source is compiled
// again with this macro redefined.
#ifdef HIPCPU_CHECKED
#define HIPCPU_LOOPS(...)
#else
#define HIPCPU_LOOPS(...) __VA_ARGS__
#endif

// Threads between two barriers do not depend on each other: a kernel in which they do has a race.
#ifdef __clang__
#define HIPCPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HIPCPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

// The built-in variables of the block: local ones, which nothing can change, and those that other functions read.
#define HIPCPU_BLOCK                                                                              \
  const ::hipcpu::Coordinates gridDim = hipcpu_block.grid, blockDim = hipcpu_block.size;          \
  const ::hipcpu::Coordinates blockIdx = ::hipcpu::index_of(hipcpu_block);                        \
  const int hipcpu_width = static_cast<int>(blockDim.x);                                          \
  const int hipcpu_threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);              \
  ::gridDim = gridDim, ::blockDim = blockDim, ::blockIdx = blockIdx;

// The threads with the same y and z are a row. Its variables are computed for its first thread.
// One loop, not two nested ones, as every loop takes time to compile.
#define HIPCPU_ROWS                                                                                            \
  for (unsigned hipcpu_y = 0, hipcpu_z = 0, hipcpu_row = 0; hipcpu_row != static_cast<unsigned>(hipcpu_threads); \
       hipcpu_row += blockDim.x, ++hipcpu_y == blockDim.y ? hipcpu_y = 0, ++hipcpu_z : 0)
#define HIPCPU_ROW const ::hipcpu::Coordinates threadIdx = {0, hipcpu_y, hipcpu_z};

// A signed counter, so that the compiler recognizes consecutive elements.
#define HIPCPU_LANES HIPCPU_INDEPENDENT for (int hipcpu_x = 0; hipcpu_x < hipcpu_width; ++hipcpu_x)
#define HIPCPU_SPAN HIPCPU_INDEPENDENT for (int hipcpu_x = hipcpu_span.from; hipcpu_x < hipcpu_span.to; ++hipcpu_x)
#define HIPCPU_THREAD const ::hipcpu::Coordinates threadIdx = {static_cast<unsigned>(hipcpu_x), hipcpu_y, hipcpu_z};
#define HIPCPU_SET_THREAD ::threadIdx = threadIdx;

#define HIPCPU_ARRAY(type, name) \
  auto* const name = static_cast<type*>(__builtin_alloca_with_align(sizeof(type) * hipcpu_threads, 512));

namespace hipcpu {

constexpr size_t kArrayBytes = 64 * 1024;  // of the home stack, for the variables of all threads

// Whether the variables of a block's threads can be kept in arrays, whose elements are assigned and never constructed.
template <class... Types>
constexpr bool fits(int threads) {
  return ((std::is_trivially_copyable_v<Types> && std::is_trivially_default_constructible_v<Types>)&&...) && threads * (sizeof(Types) + ...) <= kArrayBytes;
}

// The same object, but the compiler does not know that it is thread-local, so its address stays in a register.
template <class T>
inline __attribute__((always_inline)) T& hidden(T& object) {
  T* place = &object;
  asm("" : "+r"(place));
  return *place;
}

template <class T, size_t N>
inline void clear(T (&array)[N]) {
  std::memset(array, 0, sizeof array);
}

// The threads of a row whose counter, `at` for its first thread, is below the bound.
struct Span {
  int from, to;
};
template <class Bound>
inline __attribute__((always_inline)) Span lanes_below(long long at, Bound bound, int width) {
  const long long room = static_cast<long long>(bound) - at;
  const int from = std::is_unsigned_v<Bound> && at < 0 ? static_cast<int>(-at < width ? -at : width) : 0;
  return {from, room < width ? static_cast<int>(room < 0 ? 0 : room) : width};
}

// Shuffles of a block in which all threads participate; the sources are those of hipshared/wave.h.
template <class T>
inline __attribute__((always_inline)) T from_lane(const T* values, int thread, int threads, unsigned lane) {
  const int source = static_cast<int>((static_cast<unsigned>(thread) & ~(kWaveSize - 1)) + lane);
  return source < threads ? values[source] : T{};
}
template <class T>
inline T shfl(const T* values, int thread, int threads, int source, int width = kWaveSize) {
  const int group = thread % static_cast<int>(kWaveSize) & -width;
  return from_lane(values, thread, threads, group | (source & (width - 1)));
}
template <class T>
inline T shfl_up(const T* values, int thread, int threads, unsigned delta, int width = kWaveSize) {
  const unsigned lane = static_cast<unsigned>(thread) % kWaveSize;
  return from_lane(values, thread, threads, (lane & (width - 1)) < delta ? lane : lane - delta);
}
template <class T>
inline T shfl_down(const T* values, int thread, int threads, unsigned delta, int width = kWaveSize) {
  const unsigned lane = static_cast<unsigned>(thread) % kWaveSize;
  const bool outside = (lane & (width - 1)) + delta >= static_cast<unsigned>(width);
  return from_lane(values, thread, threads, outside ? lane : lane + delta);
}
template <class T>
inline T shfl_xor(const T* values, int thread, int threads, int mask, int width = kWaveSize) {
  const int lane = thread % static_cast<int>(kWaveSize);
  const int source = lane ^ mask;
  return from_lane(values, thread, threads, source >= ((lane + width) & -width) ? lane : source);
}

}  // namespace hipcpu
