#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  if (p[0]) throw 1;  //@ throw
}
