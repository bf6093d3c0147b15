#include <hip/hip_runtime.h>
__global__ void k(long long* p) {
  atomicAdd(p, 1ll);  //@ atomicAdd
}
