// problem: copy
// finds: data-race
// why: no barrier at the end of the loop: the next tile overwrites what others still read
#include <hip/hip_runtime.h>

__device__ float swap_with(float* tile, float mine) {
    tile[threadIdx.x] = mine;  // <-- here
    __syncthreads();
    return tile[255 - threadIdx.x];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    for (int turn = 0; turn < 2; ++turn) value = swap_with(tile, value);
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
