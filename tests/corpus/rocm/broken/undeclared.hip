#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  p[0] = nothing[1];  //@ nothing
}
