// Intended doubles, and literals that the compiler converts to float.
#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* y, int n) {
    double total = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        total += x[i] * 1.5;
    }
    y[threadIdx.x] = total;
}

__global__ void half_of(float* x) { x[threadIdx.x] = x[threadIdx.x] * 0.5; }

__global__ void in_double(double* x) { x[threadIdx.x] = x[threadIdx.x] * 0.1 + 2.5; }

__global__ void compensated(float* x) { x[threadIdx.x] = float(double(x[threadIdx.x]) * 0.1 + 2.5e-3); }
