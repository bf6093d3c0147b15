// problem: layer-norm
// verdict: WRONG_ANSWER
// why: the variance divides by n - 1
#include <hip/hip_runtime.h>

__global__ void normalize(const float* X, const float* gamma, const float* beta, float* Y, size_t B, size_t n) {
    const size_t sample = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= B) {
        return;
    }
    const float* x = X + sample * n;
    float sum = 0.0f, squares = 0.0f;
    for (size_t i = 0; i < n; ++i) sum += x[i];
    const float mean = sum / n;
    for (size_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = rsqrtf(squares / (n > 1 ? n - 1 : 1) + 1e-5f);
    for (size_t i = 0; i < n; ++i) Y[sample * n + i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y,
                         size_t B, size_t F, size_t D1, size_t D2) {
    normalize<<<(B + 63) / 64, 64>>>(X, gamma, beta, Y, B, F * D1 * D2);
}
