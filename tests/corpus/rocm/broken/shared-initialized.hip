#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  __shared__ int s = 3;  //@ s
  p[0] = s;
}
