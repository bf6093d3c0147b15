#include <hip/hip_runtime.h>
template <int N>
__device__ int positive() {
  static_assert(N > 0, "N must be positive");  //@ N
  return N;
}
__global__ void k(int* p) { p[0] = positive<-1>(); }
