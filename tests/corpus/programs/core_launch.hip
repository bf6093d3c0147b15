// Ways to launch a kernel. No token here makes a thread wait, so every launch uses the plain loop.
#include <hip/hip_ext.h>

#include "check.h"

struct Pair {
  float scale;
  int offset;
  double bias;
};

namespace outer {
namespace inner {
template <int Factor, class T = float>
__global__ void fill(T* out, Pair pair, int count) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  if (i < count) out[i] = pair.scale * Factor + pair.offset + T(pair.bias) + (i << 1 >> 1);
}
}  // namespace inner
}  // namespace outer

static std::vector<float> counted_from_8(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = 8 + i;
  return values;
}

CASE(three_dimensions_and_a_struct_by_value) {
  const int count = 3 * 2 * 2 * 24;
  float* out = zeros<float>(count);
  outer::inner::fill<3, float><<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(out, Pair{1.f, 2, 3.0}, count);
  CHECK(download(out, count) == counted_from_8(count));
}

template <class T>
struct Runner {
  void run(T* out, int count) {
    Pair pair{1.f, 2, 3.0};
    outer::inner::template fill<3, T><<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(out, pair, count);
  }
};

CASE(a_template_that_depends_on_another) {
  const int count = 288;
  float* out = zeros<float>(count);
  Runner<float>().run(out, count);
  CHECK(download(out, count) == counted_from_8(count));
}

__global__ void add_one(const int* in, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = in[i] + 1;
}

CASE(a_function_pointer) {
  std::vector<int> in(100);
  for (int i = 0; i < 100; ++i) in[i] = i * i;
  int* from = upload(in);
  int* to = zeros<int>(100);
  void (*kernel)(const int*, int*, int) = add_one;
  kernel<<<2, 64>>>(from, to, 100);
  (*kernel)<<<2, 64>>>(to, from, 100);
  for (int& value : in) value += 2;
  CHECK(download(from, 100) == in);
}

struct Times {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};

template <class F>
__global__ void map(float* out, const float* in, int count, F f) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < count) out[i] = f(in[i]);
}

CASE(functors_and_lambdas) {
  std::vector<float> values = noise(100);
  float* a = upload(values);
  float* b = zeros<float>(100);
  const float two = 2.f;
  map<<<1, 128>>>(b, a, 100, Times{4.f});
  map<<<1, 128>>>(a, b, 100, [=] __device__(float x) { return x * two; });
  for (float& value : values) value *= 8;
  CHECK(download(a, 100) == values);
}

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)

CASE(a_launch_inside_a_macro) {
  int* values = zeros<int>(64);
  LAUNCH(add_one, 1, 64, values, values, 64);
  CHECK(download(values, 64) == std::vector<int>(64, 1));
}

CASE(hipLaunchKernelGGL_with_and_without_template_arguments) {
  const int count = 24;
  float* out = zeros<float>(count);
  hipLaunchKernelGGL((outer::inner::fill<3, float>), dim3(1), dim3(24), 0, 0, out, Pair{1.f, 2, 3.0}, count);
  CHECK(download(out, count) == counted_from_8(count));
  hipLaunchKernelGGL(HIP_KERNEL_NAME(outer::inner::fill<4, float>), 1, 24, 0, nullptr, out, Pair{1.f, 1, 3.0}, count);
  CHECK(download(out, count) == counted_from_8(count));
  int* values = zeros<int>(64);
  hipLaunchKernelGGL(add_one, dim3(1), dim3(64), 0, 0, values, values, 64);
  CHECK(download(values, 64) == std::vector<int>(64, 1));
}

CASE(hipExtLaunchKernelGGL_records_events) {
  const int count = 24;
  float* out = zeros<float>(count);
  hipEvent_t start, stop;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  hipExtLaunchKernelGGL(outer::inner::fill<3, float>, 1, 24, 0, nullptr, start, stop, 0, out, Pair{1.f, 2, 3.0}, count);
  OK(hipEventSynchronize(stop));
  float elapsed_ms = -1;
  OK(hipEventElapsedTime(&elapsed_ms, start, stop));
  CHECK(elapsed_ms >= 0);
  hipExtLaunchKernelGGL(outer::inner::fill<4, float>, 1, 24, 0, nullptr, nullptr, nullptr, 0, out, Pair{1.f, 1, 3.0}, count);
  CHECK(download(out, count) == counted_from_8(count));
}

CASE(hipLaunchKernel_with_pointers_to_arguments) {
  int* values = zeros<int>(64);
  const int* from = values;
  int count = 64;
  void* arguments[] = {&from, &values, &count};
  OK(hipLaunchKernel(add_one, dim3(1), dim3(64), arguments, 0, nullptr));
  CHECK(download(values, 64) == std::vector<int>(64, 1));
}

__device__ int from_device_variable = 5;

__global__ void no_arguments() {
  if (threadIdx.x == 3 && blockIdx.x == 1) from_device_variable = 7;
}

CASE(no_arguments_at_all) {
  no_arguments<<<2, 32>>>();
  int value = 0;
  OK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(from_device_variable), sizeof value));
  CHECK(value == 7);
}

__global__ void is_null(const float* pointer, int* out) { *out = pointer == nullptr; }

CASE(null_pointers_as_arguments) {
  int* out = zeros<int>(2);
  is_null<<<1, 1>>>(nullptr, out);
  is_null<<<1, 1>>>(NULL, out + 1);
  CHECK(download(out, 2) == std::vector<int>(2, 1));
}

__global__ void stride(unsigned* hits, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) ++hits[i];
}

CASE(every_element_once_whatever_the_grid) {
  for (const unsigned blocks : {1u, 3u, 200u, 5000u})
    for (const unsigned threads : {1u, 63u, 64u, 65u, 1024u}) {
      const size_t count = 70001;
      unsigned* hits = zeros<unsigned>(count);
      stride<<<blocks, threads>>>(hits, count);
      CHECK(download(hits, count) == std::vector<unsigned>(count, 1));
      OK(hipFree(hits));
    }
}

__global__ void spin_lock(int* lock, int* count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

CASE(a_lock_between_threads_of_all_blocks) {
  int* memory = zeros<int>(2);
  spin_lock<<<40, 64>>>(memory, memory + 1);
  CHECK(download(memory, 2)[1] == 40 * 64);
}

__global__ void greet() { printf("thread %d of block %d\n", int(threadIdx.x), int(blockIdx.x)); }

CASE(printf_from_a_kernel) { greet<<<1, 2>>>(); }

// Text that looks like a launch is ignored: add_one<<<1, 2>>>(x).
CASE(text_that_looks_like_a_launch) {
  CHECK(std::strlen("k<<<1,2>>>(x)") == 13);
  CHECK(std::strlen(R"zz(k<<<"1",2>>>(x))zz") == 15);
}
