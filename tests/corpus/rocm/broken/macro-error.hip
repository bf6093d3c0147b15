#include <hip/hip_runtime.h>
#define TWICE(x) ((x) * undefined_factor)
__global__ void k(float* p) {
  p[0] = TWICE(p[1]);  //@ TWICE
}
