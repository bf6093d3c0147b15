#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  __shared__ int s[1024 / warpSize];  //@ s
  p[0] = s[0];
}
