// Barriers that only some threads reach.
#include <hip/hip_runtime.h>

__global__ void guarded(float* x, int n) {
    __shared__ float held[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        held[threadIdx.x] = x[i];
        __syncthreads();  // finds divergent-barrier
        x[i] = held[255 - threadIdx.x];
    }
}

__global__ void by_half(float* x) {
    __shared__ float held[256];
    held[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 100) {
        __syncthreads();  // finds divergent-barrier
        x[threadIdx.x] = held[255 - threadIdx.x];
    }
}
