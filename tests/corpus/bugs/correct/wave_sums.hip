// problem: sums
// why: shuffles over each wave, then over the first wave
#include <hip/hip_runtime.h>

__device__ float wave_sum(float value) {
    for (int distance = 32; distance > 0; distance /= 2) value += __shfl_down(value, distance);
    return value;
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = wave_sum(i < n ? input[i] : 0.0f);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x < 64) {
        value = wave_sum(threadIdx.x < 4 ? sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) output[blockIdx.x] = value;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
