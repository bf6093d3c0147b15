// problem: copy
// Consecutive vectors of 16 bytes, and rows that are exchanged by XOR.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ alignas(16) float line[1024];
    __shared__ alignas(16) float tile[32][32];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int row = threadIdx.x / 8, column = (threadIdx.x % 8 ^ row % 8) * 4;
    const float value = i < n ? input[i] : 0.0f;
    *reinterpret_cast<float4*>(&line[threadIdx.x * 4]) = make_float4(value, 0, 0, value);
    *reinterpret_cast<float4*>(&tile[row][column]) = make_float4(0, value, value, 0);
    __syncthreads();
    if (i < n) output[i] = 0.5f * (line[threadIdx.x * 4 + 3] + tile[row][column + 1]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
