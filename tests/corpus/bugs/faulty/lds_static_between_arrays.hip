// problem: copy
// finds: lds-out-of-bounds
// why: one element past the first array is inside the second
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float low[256];
    __shared__ float high[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    low[threadIdx.x] = high[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    float value = low[threadIdx.x];
    if (threadIdx.x == 7) value += 0.0f * low[256 + threadIdx.x] + 0.0f * high[256 + threadIdx.x];  // <-- here
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
