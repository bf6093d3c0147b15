#include <hip/hip_runtime.h>
float helper(float x);
__global__ void k(float* p) {
  p[0] = 1;
}
void use(float* p) {
  k<<<1, 1>>>(p + (int)helper(2));  //@ helper
}
