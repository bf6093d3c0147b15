// problem: copy
// why: every thread writes its part before the block signals completion
#include <hip/hip_runtime.h>

__device__ unsigned done = 0;

__global__ void run(const float* input, float* output, float* part, size_t n) {
    __shared__ unsigned place;
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    part[i] = i < n ? input[i] : 0.0f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) place = atomicInc(&done, gridDim.x - 1);
    __syncthreads();
    if (place + 1 == gridDim.x)
        for (size_t k = threadIdx.x; k < n; k += 256) output[k] = part[k];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    const size_t blocks = (n + 255) / 256;
    float* part;
    hipMalloc(&part, blocks * 256 * sizeof(float));
    run<<<blocks, 256>>>(input, output, part, n);
    hipFree(part);
}
