// verdict: RUNTIME_ERROR | MEMORY_LIMIT_EXCEEDED
// code: NOT_LOADED | MEMORY_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// A 64 GiB zero-initialized array: cheap to compile, too large to load, for the bug finder's build too.
#include <hip/hip_runtime.h>

static volatile char table[1ul << 36];

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (size_t i = 0; i < sizeof table; i += 4096) table[i] = 1;
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
