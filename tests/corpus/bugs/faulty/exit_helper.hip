// problem: copy
// finds: barrier-after-exit
// why: the barrier is in a helper, and the return in the loop of the last block
#include <hip/hip_runtime.h>

__device__ float through(float* tile, float value) {
    tile[threadIdx.x] = value;
    __syncthreads();  // <-- here
    return tile[threadIdx.x];
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    for (size_t i = blockIdx.x * 256 + threadIdx.x;; i += gridDim.x * 256) {
        if (i >= n) return;
        output[i] = through(tile, input[i]);
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
