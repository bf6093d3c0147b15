// verdict: COMPILE_ERROR
// code: COMPILE_ERROR
// says: :11:
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Calls an undeclared function in a kernel.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  y[threadIdx.x] = undeclared_thing(x[threadIdx.x]);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<1, 256>>>(input, output, n * m);
}
