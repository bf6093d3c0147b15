// Matrix multiplication of fp8 numbers with block scales, on the matrix cores of an MI300X (CDNA3).
//
// One matrix instruction, v_mfma_f32_32x32x16_fp8_fp8, multiplies a 32 x 16 tile by a 16 x 32 tile. All 64 lanes
// of a wave take part: each lane passes 8 codes of each tile, as one 64-bit number, and gets 16 of the 1024 sums.
// docs/cdna3.md has drawings of which lane has what. A wave computes 32 rows x 64 columns of C, which are two
// tiles: while one instruction is computed, the next one, for the other tile, can begin.
//
// The sums of 128 products have a scale. So the instructions of 128 products add to `part`, and then
// `sums += scale * part`. As A and B are exchanged below, a lane has one row of C, and needs one scale of A.
#include <hip/hip_runtime.h>

using Float4 = float __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

constexpr int ROWS = 128;    // rows of C per block: 32 for each of 4 waves
constexpr int COLUMNS = 64;  // columns of C per block, and per wave
constexpr int WORDS = 32;    // 128 codes, which share a scale
constexpr int STRIDE = WORDS + 2;  // words per row in shared memory; the extra ones avoid bank conflicts
constexpr int THREADS = 256;
constexpr int SCALED_COLUMNS = 128;  // columns that share a scale of B

// Copies up to 32 words of `rows` rows to shared memory. What is outside of the matrix is zero, as is the code 0.
__device__ void copy_rows(int (*to)[STRIDE], int rows, const int* from, size_t first_row, size_t all_rows,
                          size_t first_word, size_t words) {
    for (int i = threadIdx.x; i < rows * WORDS; i += THREADS) {
        const size_t row = first_row + i / WORDS, word = first_word + i % WORDS;
        to[i / WORDS][i % WORDS] = row < all_rows && word < words ? from[row * words + word] : 0;
    }
}

// Eight codes of a row, from shared memory: the operand of a lane.
__device__ long eight_codes(const int* row, int word) {
    return *reinterpret_cast<const long*>(row + word);
}

__global__ __launch_bounds__(THREADS) void multiply(const int* a, const int* b, const float* a_scale, const float* b_scale,
                                                    float* c, size_t m, size_t n, size_t words) {
    __shared__ __attribute__((aligned(16))) int a_rows[ROWS][STRIDE];
    __shared__ __attribute__((aligned(16))) int b_rows[COLUMNS][STRIDE];

    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int half = lane / 32;  // of a group of 16 codes, lanes 0 to 31 pass the first 8, the others the last 8
    const size_t row0 = size_t(blockIdx.y) * ROWS, column0 = size_t(blockIdx.x) * COLUMNS;
    const size_t row = row0 + wave * 32 + lane % 32;  // the row of C that this lane has
    const size_t blocks = (words + WORDS - 1) / WORDS;

    Float16 sums[2] = {};
    for (size_t block = 0; block < blocks; ++block) {
        copy_rows(a_rows, ROWS, a, row0, m, block * WORDS, words);
        copy_rows(b_rows, COLUMNS, b, column0, n, block * WORDS, words);
        __syncthreads();

        Float16 part[2] = {};
        for (int word = 0; word < WORDS; word += 4) {  // 16 codes per instruction
            const long from_a = eight_codes(a_rows[wave * 32 + lane % 32], word + 2 * half);
            for (int tile = 0; tile < 2; ++tile) {
                const long from_b = eight_codes(b_rows[tile * 32 + lane % 32], word + 2 * half);
                // B comes first, so the result is transposed: a lane has 16 columns of one row of C.
                part[tile] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(from_b, from_a, part[tile], 0, 0, 0);
            }
        }

        // All columns of this block have the same scale of B, because 64 divides 128.
        const float scale = row < m ? a_scale[row * blocks + block] * b_scale[column0 / SCALED_COLUMNS * blocks + block] : 0.0f;
        for (int tile = 0; tile < 2; ++tile) {
            sums[tile] += scale * part[tile];
        }
        __syncthreads();  // all waves have used these rows before the next ones are copied
    }

    // Registers 4g to 4g + 3 are neighboring columns, from 8g + 4 * half on.
    for (int tile = 0; tile < 2; ++tile) {
        for (int group = 0; group < 4; ++group) {
            const size_t column = column0 + tile * 32 + group * 8 + half * 4;
            const Float4 four = {sums[tile][4 * group], sums[tile][4 * group + 1], sums[tile][4 * group + 2], sums[tile][4 * group + 3]};
            if (row < m && column + 3 < n && n % 4 == 0) {
                *reinterpret_cast<Float4*>(c + row * n + column) = four;  // 16 bytes at once
            } else {
                for (int i = 0; i < 4; ++i) {
                    if (row < m && column + i < n) {
                        c[row * n + column + i] = four[i];
                    }
                }
            }
        }
    }
}

extern "C" void solution(const int* a, const int* b, const float* a_scale, const float* b_scale, float* c,
                         size_t m, size_t n, size_t words) {
    const dim3 blocks((n + COLUMNS - 1) / COLUMNS, (m + ROWS - 1) / ROWS);
    multiply<<<blocks, THREADS>>>(a, b, a_scale, b_scale, c, m, n, words);
}
