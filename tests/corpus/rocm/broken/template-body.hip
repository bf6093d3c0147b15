#include <hip/hip_runtime.h>
template <class T>
__device__ T twice(T x) {
  return x.size();  //@ .size
}
__global__ void k(float* p) {
  p[0] = twice(p[1]);
}
