#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void k(__half* p, bool c) {
  p[0] = c ? p[1] : 0.0f;  //@ ?
}
