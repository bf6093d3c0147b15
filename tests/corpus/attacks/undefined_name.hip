// verdict: COMPILE_ERROR
// code: UNDEFINED_NAME
// says: somewhere_else
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Calls a function that it declares but does not define.
#include <hip/hip_runtime.h>

void somewhere_else(int);

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  somewhere_else(3);
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
