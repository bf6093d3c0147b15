// Root-mean-square normalization in half precision: half2 through a trait, a tile of 32 threads per row.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_cooperative_groups.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// How two adjacent elements of a row are read and written.
template <typename T>
struct Pair;
template <>
struct Pair<__half> {
  static __device__ float2 read(const __half *row, int i) {
    return __half22float2(reinterpret_cast<const __half2 *>(row)[i]);
  }
  static __device__ void write(__half *row, int i, float2 v) {
    reinterpret_cast<__half2 *>(row)[i] = __float22half2_rn(v);
  }
};
template <>
struct Pair<float> {
  static __device__ float2 read(const float *row, int i) { return ((const float2 *)row)[i]; }
  static __device__ void write(float *row, int i, float2 v) { ((float2 *)row)[i] = v; }
};

template <typename T>
__global__ void rms_norm(const T *__restrict__ in, const T *__restrict__ gain, T *__restrict__ out, int rows, int width) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  in += row * width;
  out += row * width;

  float squares = 0;
  for (int i = tile.thread_rank(); i < width / 2; i += tile.size()) {
    float2 v = Pair<T>::read(in, i);
    squares += v.x * v.x + v.y * v.y;
  }
  for (unsigned distance = tile.size() / 2; distance > 0; distance /= 2) squares += tile.shfl_xor(squares, distance);
  const float factor = rsqrtf(squares / width + 1e-5f);
  for (int i = tile.thread_rank(); i < width / 2; i += tile.num_threads())
    Pair<T>::write(out, i, Pair<T>::read(in, i) * Pair<T>::read(gain, i) * factor);
}

template <typename T>
bool check(float tolerance) {
  const int rows = 77, width = 258, threads = 128;
  std::vector<T> x(rows * width), g(width), y(rows * width);
  for (int i = 0; i < rows * width; ++i) x[i] = T(std::sin(i * 0.1f) + i % 3);
  for (int i = 0; i < width; ++i) g[i] = T(1.0f + i % 4 * 0.25f);
  T *d_x, *d_g, *d_y;
  hipMalloc((void **)&d_x, x.size() * sizeof(T));
  hipMalloc((void **)&d_g, g.size() * sizeof(T));
  hipMalloc((void **)&d_y, y.size() * sizeof(T));
  hipMemcpy(d_x, x.data(), x.size() * sizeof(T), hipMemcpyHostToDevice);
  hipMemcpy(d_g, g.data(), g.size() * sizeof(T), hipMemcpyHostToDevice);
  rms_norm<T><<<(rows * 32 + threads - 1) / threads, threads>>>(d_x, d_g, d_y, rows, width);
  hipMemcpy(y.data(), d_y, y.size() * sizeof(T), hipMemcpyDeviceToHost);
  for (int r = 0; r < rows; ++r) {
    double squares = 0;
    for (int i = 0; i < width; ++i) squares += double(x[r * width + i]) * double(x[r * width + i]);
    for (int i = 0; i < width; ++i) {
      const double want = double(x[r * width + i]) / std::sqrt(squares / width + 1e-5) * double(g[i]);
      if (std::fabs(double(y[r * width + i]) - want) > tolerance) return printf("FAILED at %d, %d\n", r, i), false;
    }
  }
  return true;
}

int main() {
  if (!check<__half>(4e-3f) || !check<float>(1e-5f)) return 1;
  puts("PASSED");
}
