// problem: sums
// why: the last wave continues with barriers for one wave
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half >= 64; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x < 64) {
        for (int half = 32; half > 0; half /= 2) {
            if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncwarp();
        }
    }
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
