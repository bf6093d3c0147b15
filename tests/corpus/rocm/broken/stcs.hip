#include <hip/hip_runtime.h>
__global__ void k(float* p) {
  __stcs(p, 1.0f);  //@ __stcs
}
