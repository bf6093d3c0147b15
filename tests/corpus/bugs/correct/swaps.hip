// problem: copy
// why: std::swap on shared memory, each pair by one thread
#include <hip/hip_runtime.h>

#include <utility>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int turn = 0; turn < 2; ++turn) {
        if (threadIdx.x < 128) std::swap(tile[threadIdx.x], tile[255 - threadIdx.x]);
        __syncthreads();
    }
    if (i < n) output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
