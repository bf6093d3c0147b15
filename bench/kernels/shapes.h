// The six kernels and the corresponding loops, which the driver calls.
#pragma once

#include <cstddef>

constexpr int kMatrix = 512;
constexpr int kCount = 16 << 20;
constexpr int kRows = 2048;
constexpr int kColumns = 1024;

// a and b are the inputs, c is the output. All have kCount elements, of which a kernel uses as many as it needs.
using Run = void (*)(const float* a, const float* b, float* c);

// The name, and the number of elements of c that it writes.
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
