#include <hip/hip_runtime.h>
__global__ void k(const float* p) {
  p[0] = 1;  //@ =
}
