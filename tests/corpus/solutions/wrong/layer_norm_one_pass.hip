// problem: layer-norm
// verdict: WRONG_ANSWER
// why: E[x^2] - E[x]^2 in float loses all digits where the mean is large
#include <hip/hip_runtime.h>

__global__ void normalize(const float* X, const float* gamma, const float* beta, float* Y, size_t n) {
    __shared__ float sums[256], squares[256];
    const float* x = X + blockIdx.x * n;
    float sum = 0.0f, square = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += 256) {
        sum += x[i];
        square += x[i] * x[i];
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
        __syncthreads();
    }
    const float mean = sums[0] / n;
    const float variance = fmaxf(squares[0] / n - mean * mean, 0.0f);
    const float scale = rsqrtf(variance + 1e-5f);
    for (size_t i = threadIdx.x; i < n; i += 256) {
        Y[blockIdx.x * n + i] = (x[i] - mean) * scale * gamma[i] + beta[i];
    }
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y,
                         size_t B, size_t F, size_t D1, size_t D2) {
    normalize<<<B, 256>>>(X, gamma, beta, Y, F * D1 * D2);
}
