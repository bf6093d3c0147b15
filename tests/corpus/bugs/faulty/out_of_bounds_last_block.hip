// problem: copy
// finds: out-of-bounds
// why: n is not checked, so the last block reads past the end
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float value = input[i];  // <-- here
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
