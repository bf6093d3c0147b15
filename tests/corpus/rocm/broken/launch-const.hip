#include <hip/hip_runtime.h>
__global__ void k(float* p) { p[0] = 1; }
void use(const float* p) {
  k<<<1, 64>>>(p);  //@ p
}
