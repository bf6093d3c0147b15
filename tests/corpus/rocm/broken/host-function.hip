#include <hip/hip_runtime.h>
float helper(float x) { return x; }
__global__ void k(float* p) {
  p[0] = helper(p[1]);  //@ helper
}
