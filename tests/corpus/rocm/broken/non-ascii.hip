#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  /* é */ p[0] = nope;  //@ nope
}
