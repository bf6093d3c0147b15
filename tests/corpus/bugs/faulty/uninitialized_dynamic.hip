// problem: copy
// finds: uninitialised-lds
// why: the border of a tile in dynamic memory is read but never loaded
#include <hip/hip_runtime.h>

__device__ float blend(const float* tile, int x) {
    return tile[x] + 0.0f * tile[x + 1];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ float tile[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    if (i < n) output[i] = blend(tile, threadIdx.x);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256, 257 * sizeof(float)>>>(input, output, n);
}
