// The same six computations as plain CPU loops, parallelized with OpenMP.
#include <algorithm>
#include <cmath>

#include "shapes.h"

static void matmul(const float* a, const float* b, float* c) {
  constexpr int n = kMatrix;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::fill_n(c + i * n, n, 0.f);
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

static void reduce(const float* x, float* out) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < kCount; ++i) sum += x[i];
  *out = sum;
}

void loop_matmul_tiled(const float* a, const float* b, float* c) { matmul(a, b, c); }
void loop_matmul_naive(const float* a, const float* b, float* c) { matmul(a, b, c); }
void loop_reduce_tree(const float* a, const float*, float* c) { reduce(a, c); }
void loop_reduce_shuffle(const float* a, const float*, float* c) { reduce(a, c); }

void loop_leaky_relu(const float* a, const float*, float* c) {
#pragma omp parallel for
  for (int i = 0; i < kCount; ++i) c[i] = a[i] > 0.f ? a[i] : 0.01f * a[i];
}

void loop_softmax(const float* a, const float*, float* c) {
#pragma omp parallel for
  for (int row = 0; row < kRows; ++row) {
    const float* in = a + row * kColumns;
    float* out = c + row * kColumns;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < kColumns; ++i) largest = std::max(largest, in[i]);
    for (int i = 0; i < kColumns; ++i) sum += out[i] = std::exp(in[i] - largest);
    for (int i = 0; i < kColumns; ++i) out[i] /= sum;
  }
}
