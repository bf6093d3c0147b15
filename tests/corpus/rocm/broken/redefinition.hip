#include <hip/hip_runtime.h>
__global__ void k(float* p) { p[0] = 1; }
__global__ void k(float* p) { p[0] = 2; }  //@ k
