// problem: sums
// why: a tree in shared memory with a barrier after each step
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ float sums[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(input, output, n);
}
