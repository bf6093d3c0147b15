// problem: relu
// Kernels and variables with every linkage that a file can declare, each used in this file only.
#include <hip/hip_runtime.h>

__global__ void declared_before(const float* x, float* y, size_t n);
extern "C" __global__ void in_c(const float* x, float* y, size_t n);
extern __device__ float slope;

namespace {
__constant__ float limit;
__device__ unsigned calls;
}  // namespace

__device__ __noinline__ float rectified(float x) { return x > limit ? x : slope * x; }

template <class T>
__global__ void templated(const T* x, T* y, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1u);
  if (i < n) y[i] = rectified(x[i]);
}

static __global__ void is_static(const float* x, float* y, size_t n) {
  __shared__ float tile[256];
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1u);
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = rectified(tile[threadIdx.x]);
}

template __global__ void templated<double>(const double* x, double* y, size_t n);

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  const size_t count = n * m;
  const dim3 grid((count + 255) / 256), block(256);
  const float zero = 0.0f;
  unsigned called = 0;
  (void)hipMemcpyToSymbol(HIP_SYMBOL(limit), &zero, sizeof zero);
  (void)hipMemcpyToSymbol(HIP_SYMBOL(calls), &called, sizeof called);
  declared_before<<<grid, block>>>(input, output, count);
  in_c<<<grid, block>>>(input, output, count);
  is_static<<<grid, block>>>(input, output, count);
  void (*chosen)(const float*, float*, size_t) = templated<float>;
  size_t size = count;
  void* arguments[] = {&input, &output, &size};
  (void)hipLaunchKernel(reinterpret_cast<const void*>(chosen), grid, block, arguments, 0, nullptr);
  (void)hipMemcpyFromSymbol(&called, HIP_SYMBOL(calls), sizeof called);
  if (called != 4) (void)hipMemset(output, 0xff, count * sizeof(float));
}

__device__ float slope = 0.0f;

__global__ void declared_before(const float* x, float* y, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1u);
  if (i < n) y[i] = rectified(x[i]);
}

extern "C" __global__ void in_c(const float* x, float* y, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1u);
  if (i < n) y[i] = rectified(x[i]);
}
