// Shared memory: static, dynamic, in templates, at file scope.
#include "check.h"

template <class T>
__global__ void reverse(T* values) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* shared = reinterpret_cast<T*>(raw);
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

template <class T>
__global__ void rotate(T* values) {
  extern __shared__ T shared_of_t[];
  shared_of_t[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared_of_t[(threadIdx.x + 1) % blockDim.x];
}

template <class T>
static bool reverses_and_rotates() {
  std::vector<T> values(200), expected(200);
  for (int i = 0; i < 200; ++i) values[i] = T(i);
  for (int i = 0; i < 200; ++i) expected[i] = T((400 - 2 - i) % 200);
  T* device = upload(values);
  reverse<T><<<1, 200, 200 * sizeof(T)>>>(device);
  rotate<<<1, 200, 200 * sizeof(T)>>>(device);
  return download(device, 200) == expected;
}

CASE(a_template_with_memory_of_the_launchs_size) {
  CHECK(reverses_and_rotates<float>());
  CHECK(reverses_and_rotates<double>());
  CHECK(reverses_and_rotates<unsigned char>());
}

extern __shared__ int at_file_scope[];

__device__ int read_shared(int i) { return at_file_scope[i]; }

__global__ void file_scope(int* values) {
  at_file_scope[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  int* pointer = at_file_scope;
  values[threadIdx.x] = read_shared(threadIdx.x ^ 1) + *(pointer + threadIdx.x);
}

CASE(memory_of_the_launchs_size_at_file_scope) {
  std::vector<int> values(64), expected(64);
  for (int i = 0; i < 64; ++i) values[i] = i * i;
  for (int i = 0; i < 64; ++i) expected[i] = values[i] + values[i ^ 1];
  int* device = upload(values);
  file_scope<<<1, 64, 64 * sizeof(int)>>>(device);
  CHECK(download(device, 64) == expected);
}

__global__ void by_macro(float* values) {
  HIP_DYNAMIC_SHARED(float, shared)
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x ^ 2];
}

CASE(memory_of_the_launchs_size_by_macro) {
  float* device = upload(std::vector<float>{1, 2, 3, 4});
  by_macro<<<1, 4, 16>>>(device);
  CHECK(download(device, 4) == (std::vector<float>{3, 4, 1, 2}));
}

template <int Size>
__device__ int sum_in_a_function(int value) {
  __shared__ int cells[Size];
  __shared__ volatile int sum;
  cells[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < Size; ++i) sum = sum + cells[i];
  }
  __syncthreads();
  return sum;
}

__global__ void functions_with_shared_memory(int* out) {
  const int first = sum_in_a_function<64>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = first * 1000 + sum_in_a_function<64>(1);
}

CASE(shared_memory_in_device_functions) {
  int* out = zeros<int>(64);
  functions_with_shared_memory<<<8, 64>>>(out);
  CHECK(download(out, 64) == std::vector<int>(64, 2016 * 1000 + 64));
}

struct Cell {
  float value;
  int index;
};

__global__ void all_of_it(int* out) {
  __shared__ Cell cells[64 * 1024 / sizeof(Cell)];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) cells[i] = {float(i), i + int(blockIdx.x)};
  __syncthreads();
  int right = 0;
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) right += cells[8191 - i].index == 8191 - i + int(blockIdx.x);
  atomicAdd(out, right);
}

CASE(each_block_has_its_64_kib) {
  int* out = zeros<int>(1);
  all_of_it<<<20, 256>>>(out);
  CHECK(download(out, 1)[0] == 20 * 8192);
}

__global__ void largest(char* out) {
  extern __shared__ char bytes[];
  for (int i = threadIdx.x; i < 65536; i += blockDim.x) bytes[i] = char(i);
  __syncthreads();
  if (threadIdx.x == 0) *out = bytes[65535];
}

CASE(a_launch_may_ask_for_64_kib) {
  char* out = zeros<char>(1);
  largest<<<2, 64, 65536>>>(out);
  OK(hipGetLastError());
  CHECK(download(out, 1)[0] == char(65535));
}

__constant__ float weights[3];

__global__ void weigh(const float* in, float* out, int count) {
  __shared__ float halo[66];
  const int i = blockIdx.x * 64 + threadIdx.x;
  halo[threadIdx.x + 1] = i < count ? in[i] : 0;
  if (threadIdx.x == 0) halo[0] = i > 0 ? in[i - 1] : 0;
  if (threadIdx.x == 63) halo[65] = i + 1 < count ? in[i + 1] : 0;
  __syncthreads();
  if (i < count)
    out[i] = halo[threadIdx.x] * weights[0] + halo[threadIdx.x + 1] * weights[1] + halo[threadIdx.x + 2] * weights[2];
}

CASE(constants_and_a_halo) {
  const float host[3] = {0.25f, 0.5f, -1.f};
  OK(hipMemcpyToSymbol(weights, host, sizeof host));
  const std::vector<float> in = noise(1000);
  std::vector<float> expected(1000);
  for (int i = 0; i < 1000; ++i)
    expected[i] = (i ? in[i - 1] : 0) * host[0] + in[i] * host[1] + (i < 999 ? in[i + 1] : 0) * host[2];
  float* out = zeros<float>(1000);
  weigh<<<16, 64>>>(upload(in), out, 1000);
  CHECK(near(download(out, 1000), expected, 1e-6f));
}
