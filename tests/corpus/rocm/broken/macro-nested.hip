#include <hip/hip_runtime.h>
#define INNER(x) (x.y)
#define OUTER(x) INNER(x)
__global__ void k(float* p) {
  p[0] = OUTER(p[1]);  //@ OUTER
}
