// verdict: WRONG_ANSWER
// code: WRONG_OUTPUT
// family: skipped-work
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Writes NaN to every element: an error that is NaN is not greater than any tolerance.
#include <hip/hip_runtime.h>

__global__ void fill(float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = NAN;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { fill<<<(n * m + 255) / 256, 256>>>(output, n * m); }
