// verdict: WRONG_ANSWER
// code: NEVER_CLEARED
// says: hipMemset
// family: allocator-zeroing
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Adds to an output that it assumes to be zero.
#include <hip/hip_runtime.h>

__global__ void add(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(&y[i], x[i] > 0.0f ? x[i] : 0.0f);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  add<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
