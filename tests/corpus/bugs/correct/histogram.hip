// problem: copy
// why: counts in shared memory by atomics, with barriers after clearing and before reading
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, unsigned* bins, size_t n) {
    __shared__ unsigned counts[16];
    if (threadIdx.x < 16) counts[threadIdx.x] = 0;
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        output[i] = input[i];
        atomicAdd(&counts[int(fabsf(input[i]) * 4.0f) % 16], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    unsigned* bins;
    hipMalloc(&bins, 16 * sizeof(unsigned));
    hipMemset(bins, 0, 16 * sizeof(unsigned));
    run<<<(n + 255) / 256, 256>>>(input, output, bins, n);
    hipFree(bins);
}
