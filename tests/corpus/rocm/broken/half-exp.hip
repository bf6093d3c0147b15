#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void k(__half* p) {
  p[0] = exp(p[1]);  //@ exp
}
