// problem: copy
// A value that is equal in a wave is read from its first active lane, also in a branch.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
    if (threadIdx.x % 2 == 1) {
        const int lane = __builtin_amdgcn_readfirstlane(threadIdx.x % 64);
        if (i < n) output[i] = lane == 1 ? input[i] : 0.0f;
    } else if (i < n) {
        output[i] = wave == threadIdx.x / 64 ? input[i] : 0.0f;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
