// problem: sums
// finds: wave-of-32
// why: five steps add up 32 lanes, but a wave has 64
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down(value, distance);  // <-- here
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
