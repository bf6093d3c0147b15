#include <hip/hip_runtime.h>
template <int N>
__global__ void k(float* p) { p[0] = N; }
void use(float* p) {
  k<float><<<1, 1>>>(p);  //@ k
}
