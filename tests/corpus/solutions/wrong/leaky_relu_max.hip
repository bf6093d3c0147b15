// problem: leaky-relu
// verdict: WRONG_ANSWER
// why: max(x, alpha x) is leaky ReLU only for slopes up to 1
#include <hip/hip_runtime.h>

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        output[i] = fmaxf(input[i], alpha * input[i]);
    }
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    leaky_relu<<<(n * m + 255) / 256, 256>>>(input, alpha, output, n * m);
}
