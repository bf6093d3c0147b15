// verdict: COMPILE_ERROR
// code: RESERVED_NAME
// says: clock_gettime
// family: hooks
// first seen: constructed for this corpus
// control: honest
// Defines its own clock_gettime(), whose time is always 0.
#include <hip/hip_runtime.h>
#include <ctime>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
  *now = {0, 0};
  return 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
