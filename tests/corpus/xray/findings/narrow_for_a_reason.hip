// Narrow loads that wider loads cannot replace or would not speed up: scattered, strided, not the bottleneck.
#include <hip/hip_runtime.h>

__global__ void gather(const float* x, const int* where, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = x[where[i]];
    }
}

__global__ void every_third(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = x[3 * i];
    }
}

__global__ void heavy(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = erff(x[i]) * tanhf(x[i]) + lgammaf(x[i]);
    }
}

__global__ void reduce(const float* x, float* sums, int n) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
    }
    sums[threadIdx.x] = sum;
}
