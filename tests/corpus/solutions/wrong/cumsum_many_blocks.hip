// problem: cumsum
// verdict: WRONG_ANSWER
// why: one block of 1024 threads scans the totals, so blocks after the first 1024 start at zero
#include <hip/hip_runtime.h>

// Inclusive scan over the block, in shared memory.
__device__ float block_scan(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        const float before = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0.0f;
        __syncthreads();
        shared[threadIdx.x] += before;
        __syncthreads();
    }
    return shared[threadIdx.x];
}

__global__ void scan_blocks(const float* input, float* output, float* totals, size_t n) {
    __shared__ float shared[256];
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    const float sum = block_scan(i < n ? input[i] : 0.0f, shared);
    if (i < n) output[i] = sum;
    if (threadIdx.x == 255) totals[blockIdx.x] = sum;
}

__global__ void scan_totals(float* totals, size_t count) {
    __shared__ float shared[1024];
    const float sum = block_scan(threadIdx.x < count ? totals[threadIdx.x] : 0.0f, shared);
    if (threadIdx.x < count) totals[threadIdx.x] = sum;
}

__global__ void add_totals(float* output, const float* totals, size_t n) {
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (blockIdx.x > 0 && i < n) output[i] += totals[blockIdx.x - 1];
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const size_t blocks = (N + 255) / 256;
    float* totals = nullptr;
    (void)hipMalloc(&totals, blocks * sizeof(float));
    scan_blocks<<<blocks, 256>>>(input, output, totals, N);
    scan_totals<<<1, 1024>>>(totals, blocks);
    add_totals<<<blocks, 256>>>(output, totals, N);
    (void)hipFree(totals);
}
