// Times four matrix instructions, and two matrix multiplications that differ only in how they multiply.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

typedef _Float16 halfx4 __attribute__((ext_vector_type(4)));
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef double doublex4 __attribute__((ext_vector_type(4)));

constexpr int COUNT = 2000;

#define KERNEL(name, A, C)                                                                \
  __global__ void name(const A* x, C* c) {                                                \
    C sums = c[threadIdx.x];                                                              \
    for (int i = 0; i < COUNT; ++i)                                                       \
      sums = __builtin_amdgcn_mfma_##name(x[threadIdx.x], x[threadIdx.x], sums, 0, 0, 0); \
    c[threadIdx.x] = sums;                                                                \
  }
KERNEL(f32_32x32x8f16, halfx4, floatx16)
KERNEL(f32_16x16x16f16, halfx4, floatx4)
KERNEL(f32_32x32x16_fp8_fp8, long, floatx16)
KERNEL(f64_16x16x4f64, double, doublex4)

// The CPU time of this thread, which executes everything: it does not depend on what else the machine does.
double now_s() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

template <class Call>
void print_samples(const char* name, int repetitions, Call call) {
  call();
  printf("{\"name\": \"%s\", \"seconds\": [", name);
  for (int i = 0; i < repetitions; ++i) {
    const double begin = now_s();
    call();
    printf("%s%.9f", i ? ", " : "", now_s() - begin);
  }
  printf("]}\n");
}

extern "C" void solution_mfma(const __half*, const __half*, __half*, size_t, size_t, size_t);
extern "C" void solution_fma(const __half*, const __half*, __half*, size_t, size_t, size_t);

int main(int, char** argv) {
  const int repetitions = atoi(argv[1]);
  void *x, *c;
  hipMalloc(&x, 64 * 64);
  hipMalloc(&c, 64 * 64);
  hipMemset(x, 0, 64 * 64);
  hipMemset(c, 0, 64 * 64);
  print_samples("f32_32x32x8f16", repetitions, [&] { f32_32x32x8f16<<<1, 64>>>((halfx4*)x, (floatx16*)c); });
  print_samples("f32_16x16x16f16", repetitions, [&] { f32_16x16x16f16<<<1, 64>>>((halfx4*)x, (floatx4*)c); });
  print_samples("f32_32x32x16_fp8_fp8", repetitions,
                [&] { f32_32x32x16_fp8_fp8<<<1, 64>>>((long*)x, (floatx16*)c); });
  print_samples("f64_16x16x4f64", repetitions, [&] { f64_16x16x4f64<<<1, 64>>>((double*)x, (doublex4*)c); });

  const size_t n = 512;
  std::vector<__half> host(n * n), by_mfma(n * n), by_fma(n * n);
  for (size_t i = 0; i < n * n; ++i) host[i] = __half(float((i * 2654435761u >> 16) % 17) / 8 - 1);
  __half *a, *b, *result;
  hipMalloc(&a, n * n * 2);
  hipMalloc(&b, n * n * 2);
  hipMalloc(&result, n * n * 2);
  hipMemcpy(a, host.data(), n * n * 2, hipMemcpyHostToDevice);
  std::reverse(host.begin(), host.end());
  hipMemcpy(b, host.data(), n * n * 2, hipMemcpyHostToDevice);
  print_samples("matmul by MFMA", repetitions, [&] { solution_mfma(a, b, result, n, n, n); });
  hipMemcpy(by_mfma.data(), result, n * n * 2, hipMemcpyDeviceToHost);
  print_samples("matmul by FMA", repetitions, [&] { solution_fma(a, b, result, n, n, n); });
  hipMemcpy(by_fma.data(), result, n * n * 2, hipMemcpyDeviceToHost);
  for (size_t i = 0; i < n * n; ++i)
    if (float(by_mfma[i]) != float(by_fma[i])) {
      fprintf(stderr, "element %zu: %g by MFMA, %g by FMA\n", i, float(by_mfma[i]), float(by_fma[i]));
      return 1;
    }
}
