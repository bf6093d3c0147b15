// A tile with a padding column, and adjacent lanes that read adjacent elements.
#include <hip/hip_runtime.h>

constexpr int TILE = 32;

__global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[x * n + y] = tile[threadIdx.x][threadIdx.y];
}

__global__ void shift(float* x) {
    __shared__ float held[257];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = held[threadIdx.x + 1] + held[0];
}

__global__ void pairs(const float2* in, float2* out) {
    __shared__ float2 held[256];
    held[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = held[255 - threadIdx.x];
}

extern "C" void solution(const float* in, float* out, size_t n) {
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(in, out, n);
    shift<<<1, 256>>>(out);
    pairs<<<1, 256>>>(nullptr, nullptr);
}
