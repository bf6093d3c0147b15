// problem: copy
// finds: data-race
// why: the first wave writes the factor for all waves, without a barrier
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float factor;
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) factor = 1.0f;  // <-- here
    if (threadIdx.x < 64) __builtin_amdgcn_wave_barrier();
    if (i < n && threadIdx.x >= 64) output[i] = input[i] * factor;  // <-- here
    if (i < n && threadIdx.x < 64) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
