// Layer normalization with one block per sample, in three passes: the mean, then the variance of the
// differences from the mean, then the result. Only differences from the mean are squared, so that
// a mean of 10000 times the deviation loses no digits.
#include <hip/hip_runtime.h>

constexpr int LANES = 64;
constexpr int THREADS = 512;
constexpr int WAVES = THREADS / LANES;
constexpr float EPSILON = 1e-5f;

// Returns the sum over all threads of the block. All threads must call it.
__device__ float block_sum(float value) {
    __shared__ float wave_sums[WAVES];
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value += __shfl_xor(value, distance);
    }
    __syncthreads();  // all threads have read the sums of the previous call
    if (threadIdx.x % LANES == 0) {
        wave_sums[threadIdx.x / LANES] = value;
    }
    __syncthreads();
    float total = 0.0f;
    for (int wave = 0; wave < WAVES; ++wave) {
        total += wave_sums[wave];
    }
    return total;
}

__global__ void normalize(const float* X, const float* gamma, const float* beta, float* Y, size_t n) {
    const float* x = X + blockIdx.x * n;
    float* y = Y + blockIdx.x * n;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += THREADS) {
        sum += x[i];
    }
    const float mean = block_sum(sum) / n;

    float squares = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += THREADS) {
        const float centered = x[i] - mean;
        squares += centered * centered;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares) / n + EPSILON);

    for (size_t i = threadIdx.x; i < n; i += THREADS) {
        y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
    }
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y,
                         size_t B, size_t F, size_t D1, size_t D2) {
    normalize<<<B, THREADS>>>(X, gamma, beta, Y, F * D1 * D2);
}
