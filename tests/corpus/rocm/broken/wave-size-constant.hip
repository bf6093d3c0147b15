#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  constexpr int n = warpSize;  //@ n
  p[0] = n;
}
