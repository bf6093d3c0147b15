// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// tests: slow
// Waits forever in a kernel for a value that is never written.
#include <hip/hip_runtime.h>

__global__ void spin(volatile float* y) {
  while (y[0] != 1234.5f) {
  }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { spin<<<1, 64>>>(output); }
