// verdict: COMPILE_ERROR
// code: GPU_ONLY
// says: runs on a GPU only
// says: __builtin_amdgcn_mfma_f32_32x32x1f32
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
#include <hip/hip_runtime.h>

typedef float Vector __attribute__((ext_vector_type(32)));

__global__ void matrix(float* y) {
  Vector c = {};
  c = __builtin_amdgcn_mfma_f32_32x32x1f32(1.0f, 1.0f, c, 0, 0, 0);
  y[threadIdx.x] = c[0];
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { matrix<<<1, 64>>>(output); }
