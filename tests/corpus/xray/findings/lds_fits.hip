// As much as there is, and not a byte more; and an amount that only the host knows.
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
