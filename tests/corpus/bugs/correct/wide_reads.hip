// problem: copy
// 16-byte reads of consecutive, padded and swizzled rows.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ __attribute__((aligned(16))) float padded[256][36];
    __shared__ __attribute__((aligned(16))) float swizzled[4][16][32];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int lane = threadIdx.x % 64, row = lane % 16, column = (lane / 16 ^ row % 8) * 4;
    const float value = i < n ? input[i] : 0.0f;
    for (int k = 0; k < 4; ++k) padded[threadIdx.x][k] = swizzled[threadIdx.x / 64][row][column + k] = value;
    const float4 one = *reinterpret_cast<const float4*>(padded[threadIdx.x]);
    const float4 two = *reinterpret_cast<const float4*>(&swizzled[threadIdx.x / 64][row][column]);
    if (i < n) output[i] = 0.5f * (one.x + two.w);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
