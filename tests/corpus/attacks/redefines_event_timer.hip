// verdict: COMPILE_ERROR
// code: RESERVED_NAME
// says: hipEventElapsedTime
// family: hooks
// first seen: constructed for this corpus
// control: honest
// Defines its own hipEventElapsedTime(), which reports a nanosecond for every interval.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" hipError_t hipEventElapsedTime(float* ms, hipEvent_t, hipEvent_t) {
  *ms = 1e-6f;
  return hipSuccess;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
