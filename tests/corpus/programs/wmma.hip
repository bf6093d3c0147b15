// rocWMMA's fragments of every type and shape. argv[1] is a folder with `input`, integers that are the elements of A, B and
// C; the program writes one file of products per case, and a test compares them with NumPy.
#include <hip/hip_runtime.h>
#include <rocwmma/rocwmma.hpp>

constexpr int kDepth = 64;  // of the whole product

// One wave multiplies M x 64 by 64 x M.
template <class T, class Sum, int M, int K, class LayoutA, class LayoutB>
__global__ void product(const int* x, Sum* out) {
  __shared__ T a[M * kDepth], b[M * kDepth];
  __shared__ Sum c[M * M];
  constexpr bool kRowsA = std::is_same_v<LayoutA, rocwmma::row_major>, kRowsB = std::is_same_v<LayoutB, rocwmma::row_major>;
  for (int i = threadIdx.x; i < M * kDepth; i += 64) {
    const int row = i / kDepth, k = i % kDepth;
    a[kRowsA ? i : k * M + row] = static_cast<T>(static_cast<float>(x[i]));
    b[kRowsB ? i : (i % M) * kDepth + i / M] = static_cast<T>(static_cast<float>(x[M * kDepth + i]));
  }
  for (int i = threadIdx.x; i < M * M; i += 64) c[i] = static_cast<Sum>(x[2 * M * kDepth + i]);
  rocwmma::synchronize_workgroup();
  rocwmma::fragment<rocwmma::matrix_a, M, M, K, T, LayoutA> left;
  rocwmma::fragment<rocwmma::matrix_b, M, M, K, T, LayoutB> right;
  rocwmma::fragment<rocwmma::accumulator, M, M, K, Sum> sums, given;
  rocwmma::fill_fragment(sums, static_cast<Sum>(1));
  for (int k = 0; k < kDepth; k += K) {
    rocwmma::load_matrix_sync(left, a + (kRowsA ? k : k * M), kRowsA ? kDepth : M);
    rocwmma::load_matrix_sync(right, b + (kRowsB ? k * M : k), kRowsB ? M : kDepth);
    rocwmma::mma_sync(sums, left, right, sums);
  }
  rocwmma::load_matrix_sync(given, c, M, rocwmma::mem_row_major);
  for (unsigned i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + given[i];
  rocwmma::store_matrix_sync(out, sums, M, rocwmma::mem_col_major);
}

#define PRODUCTS(X) \
  X(f16_16x16x16, rocwmma::float16_t, float, 16, 16, row_major, col_major) \
  X(f16_16x16x32, rocwmma::float16_t, float, 16, 32, col_major, row_major) \
  X(f16_32x32x8, rocwmma::float16_t, float, 32, 8, row_major, row_major) \
  X(f16_into_f16, rocwmma::float16_t, rocwmma::float16_t, 32, 16, col_major, col_major) \
  X(half_16x16x16, rocwmma::hfloat16_t, float, 16, 16, row_major, row_major) \
  X(bf16_16x16x16, rocwmma::bfloat16_t, float, 16, 16, row_major, col_major) \
  X(bf16_32x32x16, rocwmma::bfloat16_t, float, 32, 16, col_major, col_major) \
  X(f32_16x16x4, float, float, 16, 4, row_major, col_major) \
  X(f32_32x32x8, float, float, 32, 8, col_major, row_major) \
  X(f64_16x16x4, double, double, 16, 4, row_major, row_major) \
  X(i8_16x16x32, rocwmma::int8_t, int, 16, 32, row_major, col_major) \
  X(i8_32x32x16, rocwmma::int8_t, int, 32, 16, col_major, row_major) \
  X(fp8_16x16x32, rocwmma::float8_fnuz_t, float, 16, 32, row_major, col_major) \
  X(fp8_32x32x32, rocwmma::float8_fnuz_t, float, 32, 32, row_major, row_major) \
  X(bf8_16x16x32, rocwmma::bfloat8_fnuz_t, float, 16, 32, col_major, col_major) \
  X(bf8_32x32x16, rocwmma::bfloat8_fnuz_t, float, 32, 16, row_major, col_major)
#define INSTANTIATE(name, T, Sum, M, K, LayoutA, LayoutB) \
  template __global__ void product<T, Sum, M, K, rocwmma::LayoutA, rocwmma::LayoutB>(const int*, Sum*);
PRODUCTS(INSTANTIATE)

// host
#include <cstdio>
#include <string>
#include <vector>

int main(int, char** argv) {
  const std::string folder = argv[1];
  std::vector<int> numbers(2 * 32 * kDepth + 32 * 32);
  std::FILE* file = std::fopen((folder + "/input").c_str(), "rb");
  if (std::fread(numbers.data(), 4, numbers.size(), file) != numbers.size()) std::abort();
  std::fclose(file);
  int* x = nullptr;
  if (hipMalloc(&x, numbers.size() * 4) != hipSuccess) std::abort();
  if (hipMemcpy(x, numbers.data(), numbers.size() * 4, hipMemcpyHostToDevice) != hipSuccess) std::abort();
#define RUN(name, T, Sum, M, K, LayoutA, LayoutB) \
  { \
    Sum* out = nullptr; \
    if (hipMalloc(&out, M * M * sizeof(Sum)) != hipSuccess) std::abort(); \
    hipLaunchKernelGGL((product<T, Sum, M, K, rocwmma::LayoutA, rocwmma::LayoutB>), dim3(1), dim3(64), 0, 0, x, out); \
    std::vector<Sum> sums(M * M); \
    if (hipMemcpy(sums.data(), out, M * M * sizeof(Sum), hipMemcpyDeviceToHost) != hipSuccess) std::abort(); \
    std::vector<double> doubles; \
    for (Sum sum : sums) doubles.push_back(static_cast<double>(sum)); \
    file = std::fopen((folder + "/" #name).c_str(), "wb"); \
    if (std::fwrite(doubles.data(), 8, M * M, file) != M * M || std::fclose(file) != 0) std::abort(); \
  }
  PRODUCTS(RUN)
  return hipDeviceSynchronize() != hipSuccess;
}
