// verdict: CHECKED
// family: honest-control
// An honest control: the macros of hipcc select code for the device and for wavefronts of 64, as on a GPU.
#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__) && __AMDGCN_WAVEFRONT_SIZE__ == 64 && __HIP_ARCH_HAS_WARP_SHUFFLE__
constexpr unsigned kThreads = 4 * 64;
#else
constexpr unsigned kThreads = 32;
#endif

__host__ __device__ inline float positive(float x) {
#ifdef __HIP_DEVICE_COMPILE__
  return fmaxf(x, 0.0f);
#else
  return x > 0.0f ? x : 0.0f;
#endif
}

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = positive(x[i]);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + kThreads - 1) / kThreads, kThreads>>>(input, output, n * m);
}
