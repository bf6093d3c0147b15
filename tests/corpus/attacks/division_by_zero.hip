// verdict: RUNTIME_ERROR
// code: DIVISION_BY_ZERO
// says: kernel `divide`
// family: faults
// first seen: constructed for this corpus
// control: honest
// Divides an integer by zero in a kernel; the zero is an argument, so the compiler does not see it.
#include <hip/hip_runtime.h>

__global__ void divide(float* y, int zero) { y[threadIdx.x] = float(int(threadIdx.x + 1) / zero); }

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { divide<<<1, 1>>>(output, int(n - n)); }
