// problem: copy
// finds: same-value-race
// why: all threads set the same flag to the same value
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ int any;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) any = 1;  // <-- here
    __syncthreads();
    if (i < n && any) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
