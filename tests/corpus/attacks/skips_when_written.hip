// verdict: ACCEPTED
// endpoint: submit
// family: call-skipping
// first seen: security review, 2026
// control: honest
// time: forged
// Skips the work if the output is no longer poison. Every timed call has fresh poison, so this never happens.
#ifndef ATTACK
#define ATTACK 1
#endif
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

__global__ void look(const float* y, int* written) { *written = y[0] == y[0]; }

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
#if ATTACK
  static int* written = nullptr;
  if (written == nullptr) (void)hipMalloc(&written, sizeof(int));
  look<<<1, 1>>>(output, written);
  int skip = 0;
  (void)hipMemcpy(&skip, written, sizeof skip, hipMemcpyDeviceToHost);
  if (skip) return;
#endif
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
