// problem: sums
// finds: wave-synchronous
// why: the last 32 sums are added up without a barrier, in a helper
#include <hip/hip_runtime.h>

__device__ void last_wave(float* sums, int thread) {
    for (int half = 16; half > 0; half /= 2)
        if (thread < half) sums[thread] += sums[thread + half];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half >= 32; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    last_wave(sums, threadIdx.x);
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
