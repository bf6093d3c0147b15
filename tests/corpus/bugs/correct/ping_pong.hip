// problem: copy
// One barrier per tile is enough, because the halves alternate.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float halves[2][256];
    int current = 0;
    for (size_t tile = 0; tile < n; tile += 256, current ^= 1) {
        const size_t i = tile + threadIdx.x, other = tile + 255 - threadIdx.x;
        halves[current][threadIdx.x] = i < n ? input[i] : 0.0f;
        __syncthreads();
        if (other < n && blockIdx.x == 0) output[other] = halves[current][255 - threadIdx.x];
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
