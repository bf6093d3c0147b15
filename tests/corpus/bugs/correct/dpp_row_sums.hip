// problem: sums
// Every lane adds its row by rotations, which never leave the row.
#include <hip/hip_runtime.h>

template <int CONTROL>
__device__ float add(float value) {
    return value + __builtin_amdgcn_update_dpp(0.0f, value, CONTROL, 0xf, 0xf, false);
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float rows[16];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    value = add<0x128>(add<0x124>(add<0x122>(add<0x121>(value))));
    if (threadIdx.x % 16 == 5) rows[threadIdx.x / 16] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int row = 0; row < 16; ++row) sum += rows[row];
    output[blockIdx.x] = sum;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
