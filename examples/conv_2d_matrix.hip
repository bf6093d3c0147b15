// problem: conv-2d
// 2D convolution on the matrix cores of an MI300X (CDNA3).
//
// One row of the kernel, applied to a row of the image, is a matrix product: 16 neighboring outputs are
//     out[x] = sum over k of image[x0 + k] * band[k][x],   band[k][x] = weight[k - x], or 0 outside of the kernel.
// So 16 rows x 16 columns of the output are, for each row of the kernel, the product of 16 rows of the image by one
// band matrix, and v_mfma_f32_16x16x4_f32 computes it 4 values of k at a time. It also multiplies the zeros of the
// band: of 16 + Kw - 1 products per output, Kw count. That is the price of one channel. In a layer with many
// channels, k runs over the channels, nothing is wasted, and the same loop computes f16 at eight times the rate.
//
// Each lane passes one element of both operands and gets four sums; docs/cdna3.md draws which. A wave computes
// 16 rows x 64 columns: four tiles that share each element of the band, and are independent of each other.
#include <hip/hip_runtime.h>

using Float4 = float __attribute__((ext_vector_type(4)));

constexpr int TILE = 16;
constexpr int TILES = 4;                // per wave, side by side
constexpr int WAVES = 4;                // one below the other
constexpr int ROWS = WAVES * TILE;      // of the output, per block
constexpr int COLUMNS = TILES * TILE;
constexpr int THREADS = WAVES * 64;

__global__ __launch_bounds__(THREADS) void correlate(const float* image, const float* kernel, float* out, int height, int width,
                                                     int kernel_rows, int kernel_columns) {
    // The part of the image that the block needs, and the kernel with zeros around each row.
    extern __shared__ float shared[];
    const int depth = (TILE + kernel_columns - 1 + 3) / 4 * 4;  // values of k, rounded up to whole instructions
    const int image_rows = ROWS + kernel_rows - 1, image_columns = COLUMNS - TILE + depth;
    const int weights = TILE - 1 + depth;  // band[k][x] is padded[15 + k - x]
    float* part = shared;
    float* padded = shared + image_rows * image_columns;

    const int y0 = blockIdx.y * ROWS, x0 = blockIdx.x * COLUMNS;
    for (int i = threadIdx.x; i < image_rows * image_columns; i += THREADS) {
        const int y = y0 + i / image_columns - kernel_rows / 2, x = x0 + i % image_columns - kernel_columns / 2;
        part[i] = y >= 0 && y < height && x >= 0 && x < width ? image[size_t(y) * width + x] : 0.0f;
    }
    for (int i = threadIdx.x; i < kernel_rows * weights; i += THREADS) {
        const int column = i % weights - (TILE - 1);
        padded[i] = column >= 0 && column < kernel_columns ? kernel[i / weights * kernel_columns + column] : 0.0f;
    }
    __syncthreads();

    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int index = lane % 16, k0 = lane / 16;  // an instruction has 4 values of k, one for each 16 lanes
    Float4 sums[TILES] = {};
    for (int row = 0; row < kernel_rows; ++row) {
        const float* pixels = part + (wave * TILE + index + row) * image_columns;
        const float* band = padded + row * weights + TILE - 1 - index;
        for (int k = k0; k < depth; k += 4) {
            const float weight = band[k];
            for (int tile = 0; tile < TILES; ++tile) {
                // The band comes first, so the result is transposed: a lane has four columns of one row.
                sums[tile] = __builtin_amdgcn_mfma_f32_16x16x4f32(weight, pixels[tile * TILE + k], sums[tile], 0, 0, 0);
            }
        }
    }

    const int y = y0 + wave * TILE + index;
    for (int tile = 0; tile < TILES; ++tile) {
        const int x = x0 + tile * TILE + k0 * 4;
        float* to = out + size_t(y) * width + x;
        if (y < height && x + 3 < width && width % 4 == 0) {
            *reinterpret_cast<Float4*>(to) = sums[tile];  // 16 bytes at once
        } else {
            for (int i = 0; i < 4; ++i) {
                if (y < height && x + i < width) {
                    to[i] = sums[tile][i];
                }
            }
        }
    }
}

extern "C" void solution(const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw) {
    const size_t depth = (TILE + Kw - 1 + 3) / 4 * 4;
    const size_t floats = (ROWS + Kh - 1) * (COLUMNS - TILE + depth) + Kh * (TILE - 1 + depth);
    const dim3 blocks((W + COLUMNS - 1) / COLUMNS, (H + ROWS - 1) / ROWS);
    correlate<<<blocks, THREADS, floats * sizeof(float)>>>(A, B, C, H, W, Kh, Kw);
}
