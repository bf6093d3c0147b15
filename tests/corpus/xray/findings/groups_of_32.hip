// Intended groups of 32: by a width, and by counting lanes modulo 32.
#include <hip/hip_runtime.h>

__global__ void by_width(const float* x, float* y) {
    float total = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
        total += __shfl_down(total, offset, 32);
    }
    if (threadIdx.x % 32 == 0) {
        y[threadIdx.x / 32] = total;
    }
}
