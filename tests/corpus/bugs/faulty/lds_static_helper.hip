// problem: copy
// finds: lds-out-of-bounds
// why: a helper receives a pointer and does not know the size
#include <hip/hip_runtime.h>

__device__ float right_of(const float* row, int x) {
    return row[x + 4];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    const float right = threadIdx.x > 250 ? right_of(tile, threadIdx.x) : 0.0f;
    if (i < n) output[i] = right == 12345.0f ? 0.0f : tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
