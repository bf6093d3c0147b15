// problem: sums
// why: the halves of a wave reduce independently: each writes its own sum, and values of the other half are not used
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[8];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down(value, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f;
        for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down(value, distance);
        if (threadIdx.x == 0) output[blockIdx.x] = value;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
