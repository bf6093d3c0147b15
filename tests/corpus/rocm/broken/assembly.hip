#include <hip/hip_runtime.h>

__global__ void k(float* output, int n) {
  float x = output[0];
  asm volatile("v_fooo_f32 %0, %0" : "+v"(x)); //@ "v_fooo_f32
  output[n] = x;
}
