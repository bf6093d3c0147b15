#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  p[0] = 1//@ //@
  p[1] = 2;
}
