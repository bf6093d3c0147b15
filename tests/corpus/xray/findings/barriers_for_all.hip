// Barriers that every thread of a block reaches, for any data.
#include <hip/hip_runtime.h>

__global__ void tree(float* x) {
    __shared__ float held[256];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int active = 128; active > 0; active /= 2) {
        if (threadIdx.x < active) {
            held[threadIdx.x] += held[threadIdx.x + active];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        x[0] = held[0];
    }
}

__global__ void by_block(float* x, int n) {
    __shared__ float held[256];
    if (blockIdx.x < n) {
        held[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = held[255 - threadIdx.x];
    }
}

__global__ void until_done(int* x) {
    __shared__ int changed;
    do {
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        if (x[threadIdx.x] > 0) {
            x[threadIdx.x] -= 1;
            changed = 1;
        }
        __syncthreads();
    } while (changed);
}

__global__ void either_way(float* x) {
    __shared__ float held[256];
    if (threadIdx.x < 128) {
        held[threadIdx.x] = x[threadIdx.x];
    } else {
        held[threadIdx.x] = -x[threadIdx.x];
    }
    __syncthreads();
    x[threadIdx.x] = held[255 - threadIdx.x];
}
