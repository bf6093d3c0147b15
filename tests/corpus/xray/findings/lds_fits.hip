// Exactly as much shared memory as there is, and an amount known only at run time.
#include <hip/hip_runtime.h>

extern __shared__ float tile[];

__global__ void turn(float* x) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" void solution(float* x, size_t n) {
    turn<<<1, 256, 64 * 1024>>>(x);
    turn<<<1, 256, n * sizeof(float)>>>(x);
}
