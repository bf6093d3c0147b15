#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  __nanosleep(100);  //@ __nanosleep
  p[0] = 1;
}
