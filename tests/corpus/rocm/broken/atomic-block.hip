#include <hip/hip_runtime.h>
__global__ void k(int* p) {
  atomicAdd_block(p, 1);  //@ atomicAdd_block
}
