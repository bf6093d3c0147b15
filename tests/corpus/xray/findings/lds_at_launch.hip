// A launch that requests more shared memory than a compute unit has.
#include <hip/hip_runtime.h>

constexpr int TILE = 128;
extern __shared__ float tile[];

__global__ void transpose(float* x) {
    __shared__ float extra[1024];
    extra[threadIdx.x] = tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x] + extra[255 - threadIdx.x];
}

extern "C" void solution(float* x) {
    const int threads = 256;
    transpose<<<1, threads, TILE * TILE * 4>>>(x);  // finds lds-over-limit
}
