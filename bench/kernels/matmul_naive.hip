// 512 x 512 matrices, one thread per element, directly from memory.
#include <hip/hip_runtime.h>

#include "shapes.h"

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

extern "C" void hip_matmul_naive(const float* a, const float* b, float* c) {
  matmul_naive<<<dim3(kMatrix / 16, kMatrix / 16), dim3(16, 16)>>>(a, b, c, kMatrix);
}
