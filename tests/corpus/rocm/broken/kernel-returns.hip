#include <hip/hip_runtime.h>
__global__ int k(int* p) { return p[0]; }  //@ int
