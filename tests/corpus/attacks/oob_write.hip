// verdict: RUNTIME_ERROR
// code: MEMORY_FAULT
// says: kernel `far`
// says: block (
// family: faults
// first seen: constructed for this corpus
// control: honest
// Writes to addresses that begin 4,096 elements after the end of the output.
#include <hip/hip_runtime.h>

__global__ void far(float* y, size_t n) { y[n + blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { far<<<2, 64>>>(output, n * m + 4096); }
