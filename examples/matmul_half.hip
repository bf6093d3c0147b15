// Matrix multiplication in half precision, in tiles of 32 x 32. Shared memory has halves, which need
// half the space and bandwidth; products are summed in float and rounded once, when they are stored.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

constexpr int TILE = 32;
constexpr int ROWS = 8;  // a thread computes every eighth row of its column

__device__ __half at(const __half* matrix, size_t row, size_t column, size_t rows, size_t columns) {
    return row < rows && column < columns ? matrix[row * columns + column] : __float2half(0.0f);
}

__global__ __launch_bounds__(TILE * ROWS) void matmul(const __half* a, const __half* b, __half* c,
                                                      size_t m, size_t n, size_t k) {
    __shared__ __half a_tile[TILE][TILE + 2];  // the two extra halves avoid bank conflicts
    __shared__ __half b_tile[TILE][TILE + 2];

    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row0 = size_t(blockIdx.y) * TILE;
    const size_t column = size_t(blockIdx.x) * TILE + x;

    float sums[TILE / ROWS] = {};
    for (size_t depth0 = 0; depth0 < k; depth0 += TILE) {
        for (int r = y; r < TILE; r += ROWS) {
            a_tile[r][x] = at(a, row0 + r, depth0 + x, m, k);
            b_tile[r][x] = at(b, depth0 + r, column, k, n);
        }
        __syncthreads();

        for (int depth = 0; depth < TILE; ++depth) {
            const float right = __half2float(b_tile[depth][x]);
            for (int i = 0; i < TILE / ROWS; ++i) {
                sums[i] += __half2float(a_tile[y + i * ROWS][depth]) * right;
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < TILE / ROWS; ++i) {
        const size_t row = row0 + y + i * ROWS;
        if (row < m && column < n) {
            c[row * n + column] = __float2half(sums[i]);
        }
    }
}

extern "C" void solution(const __half* input_a, const __half* input_b, __half* output_c,
                         size_t m, size_t n, size_t k) {
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<<<blocks, dim3(TILE, ROWS)>>>(input_a, input_b, output_c, m, n, k);
}
