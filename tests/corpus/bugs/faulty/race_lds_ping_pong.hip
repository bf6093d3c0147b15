// problem: copy
// finds: data-race
// why: both iterations use the same half, because the index is not switched
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float halves[2][256];
    int current = 0;
    for (size_t tile = blockIdx.x * 256; tile < n; tile += gridDim.x * 128) {
        const size_t i = tile + threadIdx.x, other = tile + 255 - threadIdx.x;
        halves[current][threadIdx.x] = i < n ? input[i] : 0.0f;  // <-- here
        __syncthreads();
        if (other < n) output[other] = halves[current][255 - threadIdx.x];  // <-- here
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
