// verdict: RUNTIME_ERROR
// code: STACK_OVERFLOW
// family: faults
// first seen: constructed for this corpus
// control: honest
// Recurses without end on the host, until the stack overflows.
#include <hip/hip_runtime.h>

__attribute__((noinline)) int deep(volatile int* above) {
  volatile int here[256] = {*above};
  return deep(here) + here[1];
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  volatile int top = 1;
  output[0] = float(deep(&top));
}
