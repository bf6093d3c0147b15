// verdict: WRONG_ANSWER
// problem: softmax
// endpoint: submit
// family: cheap-statistic
// first seen: public write-ups of GPU kernel competitions
// control: honest_softmax
// Writes the mean of all outputs, one over the length, for long rows.
#include <hip/hip_runtime.h>

__global__ void softmax(const float* x, float* y, size_t outer, size_t length, size_t inner) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= outer * inner) return;
  size_t base = i / inner * length * inner + i % inner;
  float largest = x[base], total = 0.0f;
  for (size_t k = 1; k < length; ++k) largest = fmaxf(largest, x[base + k * inner]);
  for (size_t k = 0; k < length; ++k) total += expf(x[base + k * inner] - largest);
  for (size_t k = 0; k < length; ++k)
    y[base + k * inner] = length >= 512 ? 1.0f / float(length) : expf(x[base + k * inner] - largest) / total;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
  size_t outer = 1, inner = 1;
  for (int k = 0; k < dim; ++k) outer *= shape[k];
  for (size_t k = dim + 1; k < ndim; ++k) inner *= shape[k];
  softmax<<<(outer * inner + 255) / 256, 256>>>(input, output, outer, shape[dim], inner);
}
