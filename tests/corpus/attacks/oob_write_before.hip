// verdict: RUNTIME_ERROR
// code: OUT_OF_BOUNDS_WRITE
// family: faults
// first seen: constructed for this corpus
// control: honest
// Computes correctly, but also writes the element before the first one of the output.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
  if (i == 0) y[-1] = 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
