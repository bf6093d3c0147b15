#include <hip/hip_runtime.h>
int size = 3;
__global__ void k(int* p) {
  p[0] = size;  //@ size
}
