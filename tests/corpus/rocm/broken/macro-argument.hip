#include <hip/hip_runtime.h>
#define TWICE(x) ((x) * 2)
__global__ void k(float* p) {
  p[0] = TWICE(missing);  //@ missing
}
