// problem: matrix-multiplication
// verdict: WRONG_ANSWER
// why: no barrier after a tile was used, so a fast thread overwrites it with the next one
#include <hip/hip_runtime.h>

constexpr int TILE = 16;

__global__ void matmul(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const size_t row = size_t(blockIdx.y) * TILE + threadIdx.y;
    const size_t column = size_t(blockIdx.x) * TILE + threadIdx.x;
    float sum = 0.0f;
    for (size_t depth0 = 0; depth0 < k; depth0 += TILE) {
        const size_t a_depth = depth0 + threadIdx.x, b_depth = depth0 + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_depth < k ? a[row * k + a_depth] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = column < n && b_depth < k ? b[b_depth * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        }
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c,
                         size_t m, size_t n, size_t k) {
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        input_a, input_b, output_c, m, n, k);
}
