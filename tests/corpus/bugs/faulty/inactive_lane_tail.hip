// problem: sums
// finds: inactive-lane
// why: lanes beyond n are inactive, and other lanes read their values
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = 0.0f;
    if (i < n) {
        value = input[i];
        for (int distance = 32; distance > 0; distance /= 2) value += __shfl_down(value, distance);  // <-- here
    }
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
