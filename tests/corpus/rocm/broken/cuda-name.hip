#include <hip/hip_runtime.h>
void use(float* p) {
  cudaFree(p);  //@ cudaFree
}
