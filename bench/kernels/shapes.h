// The six kernels and their plain loops, as the driver calls them.
#pragma once

#include <cstddef>

constexpr int kMatrix = 512;
constexpr int kCount = 16 << 20;
constexpr int kRows = 2048;
constexpr int kColumns = 1024;

// a and b are what goes in, c what comes out; all have kCount elements and each uses what it needs.
using Run = void (*)(const float* a, const float* b, float* c);

// Name, and how many elements of c it writes.
#define BENCH_KERNELS(X)             \
  X(matmul_tiled, kMatrix * kMatrix) \
  X(matmul_naive, kMatrix * kMatrix) \
  X(leaky_relu, kCount)              \
  X(reduce_tree, 1)                  \
  X(reduce_shuffle, 1)               \
  X(softmax, kRows * kColumns)

#define BENCH_DECLARE(name, outputs)                              \
  extern "C" void hip_##name(const float*, const float*, float*); \
  extern "C" void loop_##name(const float*, const float*, float*);
BENCH_KERNELS(BENCH_DECLARE)
#undef BENCH_DECLARE
