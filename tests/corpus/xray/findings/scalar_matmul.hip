// Matrix products without matrix instructions: one output per thread, with tiles in LDS, and several per thread.
#include <hip/hip_runtime.h>

__global__ void plain(const float* a, const float* b, float* c, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];  // finds scalar-matmul
    }
    c[row * n + column] = sum;
}

__global__ void tiled(const float* a, const float* b, float* c, int n, int k) {
    __shared__ float a_tile[16][17], b_tile[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 16) {
        a_tile[y][x] = a[row * k + k0 + x];
        b_tile[y][x] = b[(k0 + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];  // finds scalar-matmul
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ __launch_bounds__(256) void registers(const float* a, const float* b, float* c, int n, int k) {
    const int row = blockIdx.y * 4, column = (blockIdx.x * 256 + threadIdx.x) * 4;
    float sums[4][4] = {};
    for (int i = 0; i < k; ++i) {
        for (int y = 0; y < 4; ++y) {
            for (int x = 0; x < 4; ++x) {
                sums[y][x] += a[i * n + row + y] * b[i * n + column + x];  // finds scalar-matmul
            }
        }
    }
    for (int y = 0; y < 4; ++y) {
        *(float4*)(c + (row + y) * n + column) = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
    }
}

void launch(const float* a, const float* b, float* c, int n, int k) {
    const dim3 tiles(n / 16, n / 16);
    plain<<<tiles, dim3(16, 16)>>>(a, b, c, n, k);
    tiled<<<tiles, dim3(16, 16)>>>(a, b, c, n, k);
    registers<<<dim3(n / 1024, n / 4), 256>>>(a, b, c, n, k);
}
