// verdict: WRONG_ANSWER
// problem: sum-dim
// endpoint: submit
// family: cheap-statistic
// first seen: public write-ups of GPU kernel competitions
// control: honest_sum
// Adds every fourth element of a long sum, times four.
#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* y, size_t outer, size_t length, size_t inner) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= outer * inner) return;
  const float* at = x + i / inner * length * inner + i % inner;
  float total = 0.0f;
  size_t step = length > 512 ? 4 : 1;
  for (size_t k = 0; k < length; k += step) total += float(step) * at[k * inner];
  y[i] = total;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
  size_t outer = 1, inner = 1;
  for (int k = 0; k < dim; ++k) outer *= shape[k];
  for (size_t k = dim + 1; k < ndim; ++k) inner *= shape[k];
  sum<<<(outer * inner + 255) / 256, 256>>>(input, output, outer, shape[dim], inner);
}
