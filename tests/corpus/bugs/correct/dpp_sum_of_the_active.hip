// problem: sums
// Inactive lanes count as the old value, 0, so the sum is right.
#include <hip/hip_runtime.h>

template <int CONTROL, int ROWS = 0xf>
__device__ float add(float value) {
    return value + __builtin_amdgcn_update_dpp(0.0f, value, CONTROL, ROWS, 0xf, false);
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    if (threadIdx.x < 4) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float value = input[i];
        value = add<0x118>(add<0x114>(add<0x112>(add<0x111>(value))));
        if (threadIdx.x % 16 == 15 || i + 1 == n) atomicAdd(&sums[threadIdx.x / 64], value);
    }
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
