// problem: sums
// finds: dpp-inactive-lane
// why: the upper half adds lane 31, which the branch excludes
#include <hip/hip_runtime.h>

template <int CONTROL>
__device__ float add(float value) {
    return value + __builtin_amdgcn_update_dpp(0.0f, value, CONTROL, 0xf, 0xf, false);  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    value = add<0x118>(add<0x114>(add<0x112>(add<0x111>(value))));
    value += __builtin_amdgcn_update_dpp(0.0f, value, 0x142, 0xa, 0xf, false);
    if (threadIdx.x % 64 >= 32) value = add<0x143>(value);
    if (threadIdx.x % 64 == 63) sums[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
