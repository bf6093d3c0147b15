// A tile that is written by rows and read by columns, 32 floats apart.
#include <hip/hip_runtime.h>

constexpr int TILE = 32;

__global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[x * n + y] = tile[threadIdx.x][threadIdx.y];  // finds bank-conflict
}

extern "C" void solution(const float* in, float* out, size_t n) {
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(in, out, n);
}
