// problem: copy
// finds: matrix-inactive-lane
// why: a block of 32 threads is half a wave
#include <hip/hip_runtime.h>

using four = float __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 32 + threadIdx.x;
    four sums = {};
    sums[3] = i < n ? input[i] : 0.0f;
    sums = __builtin_amdgcn_mfma_f32_4x4x1f32(0.0f, 0.0f, sums, 0, 0, 0);  // <-- here
    if (i < n) output[i] = sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 31) / 32, 32>>>(input, output, n);
}
