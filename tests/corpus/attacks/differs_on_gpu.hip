// verdict: WRONG_ANSWER
// family: cpu-runtime-or-gpu
// first seen: security review, 2026
// control: device_macros
// Is correct only where the macros of hipcc are not defined: a check takes the branch of the GPU.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__) && defined(__gfx942__)
  if (i < n) y[i] = x[i];
#else
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
#endif
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
