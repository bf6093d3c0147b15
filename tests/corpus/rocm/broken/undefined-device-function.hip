#include <hip/hip_runtime.h>
__device__ float helper(float x);
__global__ void k(float* p) {
  p[0] = helper(p[1]);  //@ helper
}
