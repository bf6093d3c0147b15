// verdict: RUNTIME_ERROR
// code: HIP_ERROR
// says: hipErrorInvalidConfiguration
// family: faults
// first seen: constructed for this corpus
// control: honest
// Launches blocks of 2,048 threads, which is more than a block may have.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { relu<<<(n * m + 2047) / 2048, 2048>>>(input, output, n * m); }
