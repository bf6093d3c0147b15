// 2048 rows of 1024 elements: two reductions with barriers, and an exponential per element.
#include <hip/hip_runtime.h>

#include "shapes.h"

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float partial[256];
  const int thread = threadIdx.x;
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int i = thread; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  partial[thread] = largest;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (thread < half) partial[thread] = fmaxf(partial[thread], partial[thread + half]);
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0;
  for (int i = thread; i < columns; i += blockDim.x) sum += result[i] = expf(row[i] - largest);
  partial[thread] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  for (int i = thread; i < columns; i += blockDim.x) result[i] /= partial[0];
}

extern "C" void hip_softmax(const float* a, const float*, float* c) { softmax<<<kRows, 256>>>(a, c, kColumns); }
