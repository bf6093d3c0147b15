// verdict: WRONG_ANSWER
// code: INPUT_CHANGED
// family: buffers
// first seen: constructed for this corpus
// control: honest
// Computes correct outputs, but overwrites the inputs with zeros.
#include <hip/hip_runtime.h>

__global__ void zero(float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) {
    y[i] = x[i] > 0.0f ? x[i] : 0.0f;
    x[i] = 0.0f;
  }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { zero<<<(n * m + 255) / 256, 256>>>(const_cast<float*>(input), output, n * m); }
