// A loop that some threads leave earlier than others.
#include <hip/hip_runtime.h>

__device__ void meet() {
    __syncthreads();  // finds divergent-barrier
}

__global__ void uneven(float* x, int n) {
    __shared__ float held[256];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        held[threadIdx.x] = x[i];
        meet();
        x[i] = held[255 - threadIdx.x];
    }
}
