#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  threadIdx.x = 3;  //@ x = 3
  p[0] = 1;
}
