// problem: copy
// finds: barrier-after-exit
// why: threads beyond n return, the others wait
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = input[i];
    __syncthreads();  // <-- here
    output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
