// A loop that copies one float at a time, and one that copies bytes.
#include <hip/hip_runtime.h>

__global__ void scale(const float* x, float* y, float by, size_t n) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = by * x[i];  // finds narrow-loads
    }
}

__global__ void invert(const unsigned char* x, unsigned char* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 255 - x[i];  // finds narrow-loads
    }
}
