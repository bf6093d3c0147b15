// verdict: CHECKED
// problem: sum-dim
// family: honest-control
// A sum along one dimension.
#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* y, size_t outer, size_t length, size_t inner) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= outer * inner) return;
  const float* at = x + i / inner * length * inner + i % inner;
  float total = 0.0f;
  for (size_t k = 0; k < length; ++k) total += at[k * inner];
  y[i] = total;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
  size_t outer = 1, inner = 1;
  for (int k = 0; k < dim; ++k) outer *= shape[k];
  for (size_t k = dim + 1; k < ndim; ++k) inner *= shape[k];
  sum<<<(outer * inner + 255) / 256, 256>>>(input, output, outer, shape[dim], inner);
}
