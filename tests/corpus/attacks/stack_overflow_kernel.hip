// verdict: RUNTIME_ERROR
// code: STACK_OVERFLOW
// family: faults
// first seen: constructed for this corpus
// control: honest
// Recurses a billion levels deep in a kernel, until the stack of the thread overflows.
#include <hip/hip_runtime.h>

__device__ __attribute__((noinline)) float deep(const float* x, int level) {
  volatile float here[64] = {x[0]};
  return level == 0 ? here[0] : deep(x, level - 1) + here[level % 64];
}

__global__ void recurse(const float* x, float* y) { y[threadIdx.x] = deep(x, 1 << 30); }

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { recurse<<<1, 1>>>(input, output); }
