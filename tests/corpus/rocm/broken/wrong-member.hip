#include <hip/hip_runtime.h>
__global__ void k(float4* p) {
  p[0].x = p[0].q;  //@ q
}
