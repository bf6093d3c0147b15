#include <hip/hip_runtime.h>
__global__ void k(int4* p) {
  p[0] <<= 1;  //@ <<=
}
