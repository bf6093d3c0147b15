// problem: sums
// why: sums of floats by atomicAdd, per block and for the device
#include <hip/hip_runtime.h>

__global__ void clear(float* output, size_t blocks) {
    if (threadIdx.x < blocks) output[threadIdx.x] = 0.0f;
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(&sum, input[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&output[blockIdx.x], sum);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    const size_t blocks = (n + 255) / 256;
    clear<<<1, 256>>>(output, blocks);
    run<<<blocks, 256>>>(input, output, n);
}
