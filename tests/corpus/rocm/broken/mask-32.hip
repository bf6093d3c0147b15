#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  p[0] = __shfl_sync(0xffffffff, p[0], 3);  //@ __shfl_sync
}
