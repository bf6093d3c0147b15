// verdict: COMPILE_ERROR
// code: EVALUATOR_DETECTED
// says: 'hipcpu_launch_count' (formed by ##) is a name of Warmfront's own headers
// family: evaluator-mode
// first seen: security review, 2026
// control: device_macros
// Forms a refused name from parts.
#include <hip/hip_runtime.h>

#define JOIN(a, b) a##b
extern "C" unsigned long long JOIN(hipc, pu_launch_count)(void) __attribute__((weak));

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  if (JOIN(hipc, pu_launch_count)) relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
