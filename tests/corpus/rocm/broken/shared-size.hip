#include <hip/hip_runtime.h>
__global__ void k(int* p, int n) {
  __shared__ int s[n];  //@ s
  p[0] = s[0];
}
