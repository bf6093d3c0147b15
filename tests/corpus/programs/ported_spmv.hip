// A sparse matrix times a vector, one warp of 32 lanes per row; dependent templates, functors, hipLaunchKernelGGL.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffffffffffffull, v, mask, 32);
  return v;
}

template <typename T>
struct Scale {
  T by;
  __device__ T operator()(T x) const { return x * by; }
};

template <typename T>
struct Csr {
  const int* row_ptr;
  const int* col;
  const T* val;
  int rows;
};

namespace kernels {
template <typename T, int WARPS, typename F>
__global__ void spmv(Csr<T> a, const T* __restrict__ x, T* __restrict__ y, F f) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= a.rows) return;
  T sum = 0;
  for (int i = a.row_ptr[row] + threadIdx.x; i < a.row_ptr[row + 1]; i += 32) sum += a.val[i] * x[a.col[i]];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) y[row] = f(sum);
}

template <typename T>
__global__ void axpby(int n, T a, const T* x, T b, T* y) {
  for (int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x; i < n; i += hipGridDim_x * hipBlockDim_x)
    y[i] = a * x[i] + b * y[i];
}
}  // namespace kernels

template <typename T>
class Operator {
 public:
  void apply(const Csr<T>& a, const T* x, T* y) const {
    constexpr int warps = 4;
    kernels::template spmv<T, warps><<<dim3((a.rows + warps - 1) / warps), dim3(32, warps)>>>(a, x, y, Scale<T>{scale_});
    hipLaunchKernelGGL(HIP_KERNEL_NAME(kernels::axpby<T>), dim3(4), dim3(128), 0, 0, a.rows, T(1), x, T(2), y);
  }

 private:
  T scale_ = T(0.5);
};

template <typename T>
T* upload(const std::vector<T>& v) {
  T* p;
  hipMalloc(&p, v.size() * sizeof(T));
  hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice);
  return p;
}

template <typename T>
bool check(double tolerance) {
  const int n = 333;
  std::vector<int> row_ptr{0}, col;
  std::vector<T> val, x(n), y(n), want(n);
  for (int i = 0; i < n; ++i) {
    x[i] = T(std::cos(i));
    for (int k = 0; k < (i * 7) % 90; ++k) {
      col.push_back((i * 13 + k * 17) % n);
      val.push_back(T((i + k) % 5 - 2));
    }
    row_ptr.push_back(int(col.size()));
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += double(val[k]) * x[col[k]];
    want[i] = T(x[i] + 2 * 0.5 * sum);
  }
  T *d_x = upload(x), *d_y = upload(y);
  Operator<T>().apply(Csr<T>{upload(row_ptr), upload(col), upload(val), n}, d_x, d_y);
  hipMemcpy(y.data(), d_y, n * sizeof(T), hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    if (std::fabs(double(y[i]) - want[i]) > tolerance) return printf("FAILED %d\n", i), false;
  return true;
}

int main() {
  bool ok = check<float>(1e-4) && check<double>(1e-12);
  if (ok) printf("PASSED\n");
  return !ok;
}
