// verdict: COMPILE_ERROR
// code: GPU_ONLY
// says: runs on a GPU only
// says: __builtin_amdgcn_s_getreg
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Reads a hardware register of the GPU, which the CPU runtime does not have.
#include <hip/hip_runtime.h>

__global__ void hardware_id(float* y) {
  if (threadIdx.x == 0) y[0] = float(__builtin_amdgcn_s_getreg(63492));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { hardware_id<<<1, 64>>>(output); }
