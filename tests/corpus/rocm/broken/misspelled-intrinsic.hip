#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  p[0] = __shfl_dwn(p[1], 1);  //@ __shfl_dwn
}
