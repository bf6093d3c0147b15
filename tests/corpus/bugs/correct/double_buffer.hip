// problem: copy
// why: two halves of one array alternate, with one barrier per step
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[2][256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    for (int turn = 0; turn < 4; ++turn) {
        tile[turn & 1][threadIdx.x] = value;
        __syncthreads();
        value = tile[turn & 1][255 - threadIdx.x];
    }
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
