// verdict: RUNTIME_ERROR
// code: MEMORY_FAULT
// says: null
// family: faults
// first seen: constructed for this corpus
// control: honest
// Writes through a null pointer in a kernel.
#include <hip/hip_runtime.h>

__global__ void write(float* y) { y[threadIdx.x] = 1.0f; }

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  float* nowhere = nullptr;
  write<<<1, 64>>>(nowhere);
}
