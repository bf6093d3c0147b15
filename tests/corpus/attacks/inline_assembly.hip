// verdict: COMPILE_ERROR
// code: GPU_ONLY
// says: runs on a GPU only
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Has an instruction of the GPU in inline assembly, which the CPU runtime cannot execute.
#include <hip/hip_runtime.h>

__global__ void assembly(float* y) {
  float v;
  asm volatile("v_mov_b32 %0, 1.0" : "=r"(v));
  y[threadIdx.x] = v;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { assembly<<<1, 64>>>(output); }
