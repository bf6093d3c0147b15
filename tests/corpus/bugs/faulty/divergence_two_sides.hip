// problem: copy
// finds: barrier-divergence
// why: even and odd threads wait at two barriers
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    if (threadIdx.x % 2 == 0) {
        __syncthreads();  // <-- here
    } else {
        __syncthreads();  // <-- here
    }
    if (i < n) output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
