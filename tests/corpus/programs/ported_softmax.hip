// Softmax of rows: running maximum and sum in one pass, dynamic shared memory with a manual cast.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

// A maximum, and a sum of exponentials relative to it.
struct __align__(8) Running {
  float top;
  float sum;
};

__device__ __forceinline__ Running merge(Running p, Running q) {
  const float top = fmaxf(p.top, q.top);
  return {top, p.sum * __expf(p.top - top) + q.sum * __expf(q.top - top)};
}

template <int Threads>
__global__ __launch_bounds__(Threads) void softmax(const float *__restrict__ in, float *__restrict__ out, int width) {
  extern __shared__ __align__(8) unsigned char raw[];
  Running *parts = reinterpret_cast<Running *>(raw);
  const float *row = in + (size_t)blockIdx.x * width;

  Running mine = {-INFINITY, 0.f};
  for (int i = threadIdx.x; i < width; i += Threads) {
    // Minus infinity minus itself is NaN, so the first value starts the sum.
    mine = mine.sum == 0.f ? Running{row[i], 1.f} : merge(mine, {row[i], 1.f});
  }
  parts[threadIdx.x] = mine;
  __syncthreads();
#pragma unroll
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half && parts[threadIdx.x + half].sum > 0.f)
      parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  const Running all = parts[0];
  for (int i = threadIdx.x; i < width; i += Threads)
    out[(size_t)blockIdx.x * width + i] = __fdividef(__expf(row[i] - all.top), all.sum);
}

int main() {
  constexpr int rows = 37, threads = 128;
  for (int width : {1, 100, 1009}) {
    std::vector<float> x(rows * width), y(rows * width);
    for (int i = 0; i < rows * width; ++i) x[i] = 80.0f * std::sin(i * 0.37f);
    float *d_x, *d_y;
    hipMalloc(&d_x, x.size() * sizeof(float));
    hipMalloc(&d_y, y.size() * sizeof(float));
    hipMemcpy(d_x, x.data(), x.size() * sizeof(float), hipMemcpyHostToDevice);
    softmax<threads><<<rows, threads, threads * sizeof(Running)>>>(d_x, d_y, width);
    hipMemcpy(y.data(), d_y, y.size() * sizeof(float), hipMemcpyDeviceToHost);
    for (int r = 0; r < rows; ++r) {
      double top = -1e30, sum = 0;
      for (int i = 0; i < width; ++i) top = std::fmax(top, x[r * width + i]);
      for (int i = 0; i < width; ++i) sum += std::exp(x[r * width + i] - top);
      for (int i = 0; i < width; ++i)
        if (std::fabs(y[r * width + i] - std::exp(x[r * width + i] - top) / sum) > 1e-5)
          return printf("FAILED at %d of row %d\n", i, r), 1;
    }
    hipFree(d_x);
    hipFree(d_y);
  }
  printf("PASSED\n");
  return 0;
}
