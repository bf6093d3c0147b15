// problem: leaky-relu
// dtype: float16
// verdict: WRONG_ANSWER
// why: alpha is rounded to eight bits of precision
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void leaky_relu(const __half* input, float alpha, __half* output, size_t count) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        const float coarse = rintf(alpha * 256.0f) / 256.0f;
        const float x = __half2float(input[i]);
        output[i] = __float2half(x > 0.0f ? x : coarse * x);
    }
}

extern "C" void solution(const __half* input, float alpha, __half* output, size_t n, size_t m) {
    leaky_relu<<<(n * m + 255) / 256, 256>>>(input, alpha, output, n * m);
}
