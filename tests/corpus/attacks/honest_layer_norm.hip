// verdict: CHECKED
// problem: layer-norm
// family: honest-control
// Layer normalization in two passes, with sums in double.
#include <hip/hip_runtime.h>

constexpr float kEpsilon = 1e-5f;

__global__ void normalize(const float* X, const float* gamma, const float* beta, float* Y, size_t samples, size_t n) {
  size_t b = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (b >= samples) return;
  const float* x = X + b * n;
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < n; ++i) sum += x[i];
  float mean = float(sum / double(n));
  for (size_t i = 0; i < n; ++i) squares += (x[i] - sum / double(n)) * (x[i] - sum / double(n));
  float variance = float(squares / double(n));
  float scale = 1.0f / sqrtf(variance + kEpsilon);
  for (size_t i = 0; i < n; ++i) Y[b * n + i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y, size_t B, size_t F, size_t D1,
                         size_t D2) {
  normalize<<<(B + 63) / 64, 64>>>(X, gamma, beta, Y, B, F * D1 * D2);
}
