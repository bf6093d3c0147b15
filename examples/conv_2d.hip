// 2D convolution. A block loads the kernel and its tile of the image, with a halo of half a kernel,
// into shared memory, with zeros outside the image, and computes 32 x 8 outputs. A kernel that is too
// large for shared memory is read from global memory.
#include <hip/hip_runtime.h>

constexpr int TILE_W = 32;
constexpr int TILE_H = 8;
constexpr size_t LDS_BYTES = 64 * 1024;

__global__ void correlate_tiles(const float* image, const float* kernel, float* output,
                                int height, int width, int rows, int columns) {
    extern __shared__ float lds[];
    const int halo_w = TILE_W + columns - 1, halo_h = TILE_H + rows - 1;
    float* weights = lds;
    float* tile = lds + rows * columns;

    const int threads = TILE_W * TILE_H, me = threadIdx.y * TILE_W + threadIdx.x;
    const int x0 = blockIdx.x * TILE_W, y0 = blockIdx.y * TILE_H;
    for (int i = me; i < rows * columns; i += threads) {
        weights[i] = kernel[i];
    }
    for (int i = me; i < halo_w * halo_h; i += threads) {
        const int y = y0 + i / halo_w - rows / 2, x = x0 + i % halo_w - columns / 2;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        tile[i] = inside ? image[size_t(y) * width + x] : 0.0f;
    }
    __syncthreads();

    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0.0f;
    for (int p = 0; p < rows; ++p) {
        const float* line = tile + (threadIdx.y + p) * halo_w + threadIdx.x;
        for (int q = 0; q < columns; ++q) {
            sum += line[q] * weights[p * columns + q];
        }
    }
    output[size_t(y) * width + x] = sum;
}

__global__ void correlate_directly(const float* image, const float* kernel, float* output,
                                   int height, int width, int rows, int columns) {
    const int x = blockIdx.x * TILE_W + threadIdx.x, y = blockIdx.y * TILE_H + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0.0f;
    for (int p = 0; p < rows; ++p) {
        for (int q = 0; q < columns; ++q) {
            const int from_y = y + p - rows / 2, from_x = x + q - columns / 2;
            if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
                sum += image[size_t(from_y) * width + from_x] * kernel[p * columns + q];
            }
        }
    }
    output[size_t(y) * width + x] = sum;
}

extern "C" void solution(const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw) {
    const dim3 blocks((W + TILE_W - 1) / TILE_W, (H + TILE_H - 1) / TILE_H);
    const dim3 threads(TILE_W, TILE_H);
    const size_t floats = Kh * Kw + (TILE_W + Kw - 1) * (TILE_H + Kh - 1);
    if (floats * sizeof(float) <= LDS_BYTES) {
        correlate_tiles<<<blocks, threads, floats * sizeof(float)>>>(A, B, C, H, W, Kh, Kw);
    } else {
        correlate_directly<<<blocks, threads>>>(A, B, C, H, W, Kh, Kw);
    }
}
