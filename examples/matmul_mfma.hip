// Matrix multiplication in half precision on the matrix cores of an MI300X (CDNA3).
//
// A matrix core multiplies small matrices with one instruction, which a whole wave of 64 lanes executes together.
// This kernel uses v_mfma_f32_32x32x8_f16: D = A * B + C, where A is 32 x 8 and B is 8 x 32 halves, and C and D are
// 32 x 32 floats. It does 16384 operations in 32 cycles; a wave's v_fma_f32 does 128 in 4.
//
// The matrices are in registers, a part in each lane. For this instruction:
//   A   lane l has row l % 32, columns 4 * (l / 32) .. + 3: four halves that follow each other
//   B   lane l has column l % 32, rows 4 * (l / 32) .. + 3
//   D   lane l has column l % 32; register r is row 8 * (r / 4) + 4 * (l / 32) + r % 4
// AMD's matrix instruction calculator prints this for every instruction.
//
// A block of four waves computes a tile of 64 x 64, each wave a quarter of it.
//
// problem: matmul
// dtype: float16
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

// The types that the compiler's builtin takes and returns: vectors that live in consecutive registers.
typedef _Float16 halfx4 __attribute__((ext_vector_type(4)));
typedef float floatx16 __attribute__((ext_vector_type(16)));

constexpr int TILE = 64;       // rows and columns of C per block
constexpr int DEPTH = 32;      // columns of A and rows of B in shared memory at a time
constexpr int PAD = 4;         // keeps rows 8-byte aligned, and the lanes of a read on different banks
constexpr int THREADS = 256;

__device__ __half at(const __half* matrix, size_t row, size_t column, size_t rows, size_t columns) {
    return row < rows && column < columns ? matrix[row * columns + column] : __float2half(0.0f);
}

__global__ __launch_bounds__(THREADS) void matmul(const __half* a, const __half* b, __half* c,
                                                  size_t m, size_t n, size_t k) {
    __shared__ __align__(16) __half a_tile[TILE][DEPTH + PAD];
    // Transposed, so that the four halves of a column that a lane needs follow each other.
    __shared__ __align__(16) __half b_tile[TILE][DEPTH + PAD];

    const int thread = threadIdx.x;
    const int lane = thread % 64, wave = thread / 64;
    const int row0 = 32 * (wave / 2), column0 = 32 * (wave % 2);  // of this wave's quarter
    const size_t tile_row = size_t(blockIdx.y) * TILE, tile_column = size_t(blockIdx.x) * TILE;

    floatx16 sums = {0};
    for (size_t depth0 = 0; depth0 < k; depth0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            const int r = i / DEPTH, d = i % DEPTH;  // neighbors read neighboring elements of A
            a_tile[r][d] = at(a, tile_row + r, depth0 + d, m, k);
        }
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            const int d = i / TILE, column = i % TILE;
            b_tile[column][d] = at(b, depth0 + d, tile_column + column, k, n);
        }
        __syncthreads();

        for (int d = 0; d < DEPTH; d += 8) {
            // Eight bytes from shared memory per operand and lane.
            const int first = d + 4 * (lane / 32);
            const halfx4 left = *reinterpret_cast<const halfx4*>(&a_tile[row0 + lane % 32][first]);
            const halfx4 right = *reinterpret_cast<const halfx4*>(&b_tile[column0 + lane % 32][first]);
            // The last three arguments select variants that broadcast a part of A or B: none here.
            sums = __builtin_amdgcn_mfma_f32_32x32x8f16(left, right, sums, 0, 0, 0);
        }
        __syncthreads();
    }

    for (int r = 0; r < 16; ++r) {
        const size_t row = tile_row + row0 + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
        const size_t column = tile_column + column0 + lane % 32;
        if (row < m && column < n) {
            c[row * n + column] = __float2half(sums[r]);
        }
    }
}

extern "C" void solution(const __half* input_a, const __half* input_b, __half* output_c,
                         size_t m, size_t n, size_t k) {
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<<<blocks, THREADS>>>(input_a, input_b, output_c, m, n, k);
}
