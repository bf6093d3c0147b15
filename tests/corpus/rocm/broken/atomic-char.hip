#include <hip/hip_runtime.h>
__global__ void k(char* p) {
  atomicAdd(p, 1);  //@ atomicAdd
}
