// A matrix product: tile sizes as template parameters, float4 loads, a strip of results in registers.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

// A block computes a Tile x Tile part of C; a thread computes Strip adjacent elements of one row.
template <int Tile, int Strip>
__global__ void __launch_bounds__(Tile *Tile / Strip)
    gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
  static_assert(Tile % Strip == 0 && Strip % 4 == 0, "strips are read as float4");
  __shared__ alignas(16) float tile_a[Tile][Tile];
  __shared__ __align__(16) float tile_b[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int col = blockIdx.x * Tile + threadIdx.x * Strip;
  float acc[Strip] = {0.f};

  for (int step = 0; step < k; step += Tile) {
#pragma unroll
    for (int s = 0; s < Strip; s += 4) {
      const int inner = threadIdx.x * Strip + s;
      *reinterpret_cast<float4 *>(&tile_a[threadIdx.y][inner]) =
          *reinterpret_cast<const float4 *>(a + row * k + step + inner);
      *(float4 *)&tile_b[threadIdx.y][inner] = __ldg((const float4 *)(b + (step + threadIdx.y) * n + col + s));
    }
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < Tile; ++i) {
      const float left = tile_a[threadIdx.y][i];
#pragma unroll
      for (int s = 0; s < Strip; ++s) acc[s] = fmaf(left, tile_b[i][threadIdx.x * Strip + s], acc[s]);
    }
    __syncthreads();
  }
  for (int s = 0; s < Strip; s += 4)
    reinterpret_cast<float4 *>(c + row * n + col)[s / 4] = make_float4(acc[s], acc[s + 1], acc[s + 2], acc[s + 3]);
}

int main() {
  const int m = 96, n = 160, k = 64;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i * 37 % 101) / 50 - 1;
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(i * 53 % 97) / 48 - 1;
  float *d_a, *d_b, *d_c;
  hipMalloc(&d_a, sizeof(float) * a.size());
  hipMalloc(&d_b, sizeof(float) * b.size());
  hipMalloc(&d_c, sizeof(float) * c.size());
  hipMemcpy(d_a, a.data(), sizeof(float) * a.size(), hipMemcpyHostToDevice);
  hipMemcpy(d_b, b.data(), sizeof(float) * b.size(), hipMemcpyHostToDevice);
  constexpr int tile = 32, strip = 8;
  dim3 grid(divide_up(n, tile), divide_up(m, tile));
  dim3 block(tile / strip, tile);
  gemm<tile, strip><<<grid, block>>>(d_a, d_b, d_c, m, n, k);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  hipMemcpy(c.data(), d_c, sizeof(float) * c.size(), hipMemcpyDeviceToHost);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int x = 0; x < k; ++x) want += double(a[i * k + x]) * b[x * n + j];
      if (std::fabs(c[i * n + j] - want) > 1e-4) return printf("FAILED at %d, %d\n", i, j), 1;
    }
  printf("PASSED\n");
}
