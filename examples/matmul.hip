// Tiled matrix multiplication. A block computes 64 x 64 outputs, a thread 4 x 4 of them in registers.
// Slices of A and B, 16 deep, are loaded into shared memory, so that each element is loaded once per
// block, not once per thread. Elements outside the matrices are zero, so edges need no special case.
#include <hip/hip_runtime.h>

constexpr int TILE = 64;   // rows and columns of C per block
constexpr int DEPTH = 16;  // part of k that is in shared memory at a time
constexpr int SIDE = 4;    // rows and columns of C per thread
constexpr int THREADS = (TILE / SIDE) * (TILE / SIDE);

__global__ __launch_bounds__(THREADS) void matmul(const float* a, const float* b, float* c,
                                                  size_t m, size_t n, size_t k) {
    __shared__ float a_slice[DEPTH][TILE + 1];  // transposed; the extra column avoids bank conflicts
    __shared__ float b_slice[DEPTH][TILE];

    const size_t row0 = size_t(blockIdx.y) * TILE;
    const size_t column0 = size_t(blockIdx.x) * TILE;
    const int thread_row = threadIdx.x / (TILE / SIDE);
    const int thread_column = threadIdx.x % (TILE / SIDE);

    float sums[SIDE][SIDE] = {};
    for (size_t depth0 = 0; depth0 < k; depth0 += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const size_t row = row0 + i / DEPTH, depth = depth0 + i % DEPTH;
            a_slice[i % DEPTH][i / DEPTH] = row < m && depth < k ? a[row * k + depth] : 0.0f;
        }
        for (int i = threadIdx.x; i < DEPTH * TILE; i += THREADS) {
            const size_t depth = depth0 + i / TILE, column = column0 + i % TILE;
            b_slice[i / TILE][i % TILE] = depth < k && column < n ? b[depth * n + column] : 0.0f;
        }
        __syncthreads();

        for (int depth = 0; depth < DEPTH; ++depth) {
            for (int i = 0; i < SIDE; ++i) {
                for (int j = 0; j < SIDE; ++j) {
                    sums[i][j] += a_slice[depth][thread_row * SIDE + i] * b_slice[depth][thread_column * SIDE + j];
                }
            }
        }
        __syncthreads();  // all threads have used these slices before the next ones are loaded
    }

    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            const size_t row = row0 + thread_row * SIDE + i;
            const size_t column = column0 + thread_column * SIDE + j;
            if (row < m && column < n) {
                c[row * n + column] = sums[i][j];
            }
        }
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c,
                         size_t m, size_t n, size_t k) {
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<<<blocks, THREADS>>>(input_a, input_b, output_c, m, n, k);
}
