// problem: relu
// verdict: WRONG_ANSWER
// why: values between 0 and 1e-6 are treated as zero
#include <hip/hip_runtime.h>

__global__ void relu(const float* input, float* output, size_t count) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        output[i] = input[i] > 1e-6f ? input[i] : 0.0f;
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
