// problem: relu
// verdict: WRONG_ANSWER
// why: the output is right, but the input is changed
#include <hip/hip_runtime.h>

__global__ void relu(float* input, float* output, size_t count) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        input[i] = fmaxf(input[i], 0.0f);
        output[i] = input[i];
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    relu<<<(n * m + 255) / 256, 256>>>(const_cast<float*>(input), output, n * m);
}
