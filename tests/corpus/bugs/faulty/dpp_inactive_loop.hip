// problem: sums
// finds: dpp-inactive-lane
// why: a tree that halves its lanes reads lanes that have left it
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float rows[16];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int in_row = threadIdx.x % 16;
    float value = i < n ? input[i] : 0.0f;
    if (in_row < 8) {
        value += __builtin_amdgcn_update_dpp(0.0f, value, 0x108, 0xf, 0xf, true);  // <-- here
        value += __builtin_amdgcn_update_dpp(0.0f, value, 0x104, 0xf, 0xf, true);  // <-- here
        value += __builtin_amdgcn_update_dpp(0.0f, value, 0x102, 0xf, 0xf, true);  // <-- here
        value += __builtin_amdgcn_update_dpp(0.0f, value, 0x101, 0xf, 0xf, true);  // <-- here
    }
    if (in_row == 0) rows[threadIdx.x / 16] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int row = 0; row < 16; ++row) sum += rows[row];
    output[blockIdx.x] = sum;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
