#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  p[0] = __ldcs(p + 1);  //@ __ldcs
}
