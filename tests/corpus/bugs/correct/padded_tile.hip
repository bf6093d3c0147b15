// problem: copy
// why: a tile with a padding column that no thread reads
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[16][17];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    const float across = tile[x][y];
    __syncthreads();
    tile[x][y] = across;
    __syncthreads();
    if (i < n) output[i] = tile[y][x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
