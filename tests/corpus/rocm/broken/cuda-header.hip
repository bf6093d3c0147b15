#include <hip/hip_runtime.h>
#include <cuda_runtime.h>  //@ <cuda_runtime.h>
__global__ void k(float* p) { p[0] = 1; }
