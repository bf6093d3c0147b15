// Kernels of the harness that fill and check the slots of a case. They do not depend on the problem.
//
// The inputs of a timed call are mixed from two base sets: a secret random bit decides for each element from which one
// it is taken. warmfront/judge/mixed_inputs.py computes the same on the host. The functions use no shared memory and no
// barriers, so that the CPU runtime runs them as plain loops.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace slots {
namespace {

constexpr unsigned kThreads = 256;

// The number of blocks for `count` threads or elements; kernels loop over the elements beyond a grid of this size.
inline unsigned blocks_for(uint64_t count) {
  const uint64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

#define FOR_EACH(i, count)                                                                                     \
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, step = uint64_t{gridDim.x} * blockDim.x; \
       i < (count); i += step)

#define LAUNCH(kernel, count, ...) \
  hipLaunchKernelGGL(kernel, dim3(::slots::blocks_for(count)), dim3(::slots::kThreads), 0, nullptr, __VA_ARGS__)

// The random bit of element `i`: Philox4x32-10 by Salmon et al., with the tensor and the block of 128 elements as its
// counter.
__device__ inline uint32_t random_bit(uint64_t i, uint32_t tensor, uint64_t key) {
  uint32_t a = static_cast<uint32_t>(i / 128), b = static_cast<uint32_t>(i / 128 >> 32), c = tensor, d = 0;
  uint32_t key_low = static_cast<uint32_t>(key), key_high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * a, second = uint64_t{0xCD9E8D57u} * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ key_low;
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ key_high;
    d = static_cast<uint32_t>(first);
    key_low += 0x9E3779B9u;
    key_high += 0xBB67AE85u;
  }
  const uint32_t word = i / 32 % 4;
  return ((word == 0 ? a : word == 1 ? b : word == 2 ? c : d) >> (i % 32)) & 1u;
}

template <class T>
__global__ void mix(T* to, const T* first, const T* second, uint64_t count, uint32_t tensor, uint64_t key) {
  FOR_EACH(i, count) to[i] = random_bit(i, tensor, key) != 0 ? second[i] : first[i];
}

__global__ void count_different(const uint32_t* left, const uint32_t* right, uint64_t words, unsigned long long* count) {
  unsigned long long different = 0;
  FOR_EACH(i, words) different += left[i] != right[i];
  if (different != 0) atomicAdd(count, different);
}

// Counts the half words that differ from the pattern in the guard zones of a region: before `from` and after `to`.
__global__ void count_guard_writes(const uint16_t* region, uint64_t from, uint64_t to, uint64_t end, uint32_t pattern,
                                   unsigned long long* count) {
  unsigned long long written = 0;
  FOR_EACH(i, from + end - to) {
    const uint64_t at = i < from ? i : i - from + to;
    written += region[at] != static_cast<uint16_t>(at % 2 != 0 ? pattern >> 16 : pattern);
  }
  if (written != 0) atomicAdd(count, written);
}

}  // namespace
}  // namespace slots
