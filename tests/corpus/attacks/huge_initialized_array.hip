// verdict: COMPILE_ERROR
// code: COMPILE_FILE_LIMIT | COMPILE_MEMORY_LIMIT
// says: limit
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// A four-gigabyte array with an initializer, which the assembler writes to the object file.
#include <hip/hip_runtime.h>

__device__ volatile char table[1ul << 32] = {1};

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = (x[i] > 0.0f ? x[i] : 0.0f) + table[i + 1];
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
