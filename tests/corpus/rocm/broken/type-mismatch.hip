#include <hip/hip_runtime.h>
__global__ void k(float* p, int* q) {
  p = q;  //@ q
}
