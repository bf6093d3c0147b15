// problem: copy
// finds: lds-out-of-bounds
// why: the array is too small for the halo
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    if (threadIdx.x == 255) tile[threadIdx.x + 1] = 0.0f;  // <-- here
    __syncthreads();
    if (i < n) output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
