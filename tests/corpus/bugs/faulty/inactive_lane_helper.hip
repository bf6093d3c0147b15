// problem: copy
// finds: inactive-lane
// why: only lane 0 shuffles, so the lane that it reads is inactive
#include <hip/hip_runtime.h>

__device__ float from_right(float value) {
    return __shfl_down(value, 1);  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    if (threadIdx.x % 64 == 0) value += 0.5f * from_right(value);
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
