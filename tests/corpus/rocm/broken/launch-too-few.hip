#include <hip/hip_runtime.h>
__global__ void k(float* p, int n) { p[0] = n; }
void use(float* p) {
  k<<<1, 64>>>(p);  //@ )
}
