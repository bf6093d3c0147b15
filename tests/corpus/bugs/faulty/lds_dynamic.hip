// problem: copy
// finds: lds-out-of-bounds
// why: the launch passes the number of elements instead of bytes
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ float tile[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;  // <-- here
    __syncthreads();
    if (i < n) output[i] = tile[threadIdx.x];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256, 256>>>(input, output, n);
}
