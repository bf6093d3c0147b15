// Atomics: concurrent threads, and the old values that are returned.
#include "check.h"
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

template <class T>
__global__ void add_all(T* sum) {
  atomicAdd(sum, T(1));
  atomicAdd(sum + 1, T(2));
  atomicAdd_system(sum + 2, T(3));
  if constexpr (std::is_floating_point_v<T>) unsafeAtomicAdd(sum + 3, T(4));
  else atomicAdd(sum + 3, T(4));
  atomicSub(sum + 4, T(1));
}

template <class T>
static void check_add() {
  T* sum = zeros<T>(5);
  add_all<T><<<10, 100>>>(sum);
  const std::vector<T> got = download(sum, 5);
  CHECK(got[0] == T(1000) && got[1] == T(2000) && got[2] == T(3000) && got[3] == T(4000) && got[4] == T(-1000));
}

CASE(sums_are_complete) {
  check_add<int>();
  check_add<unsigned>();
  check_add<unsigned long>();
  check_add<unsigned long long>();
  check_add<float>();
  check_add<double>();
}

__global__ void extremes(int* i, unsigned* u, float* f, unsigned long long* l) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(i, -t);
  atomicMax(i + 1, t);
  atomicMax(u, 0x80000000u + t);
  atomicMin(u + 1, 5u + t);
  atomicMax(f, t * 0.5f);
  atomicMin(f + 1, -t * 0.5f);
  atomicMax(l, 1ull << 40 | t);
}

CASE(extremes_are_found) {
  int* i = zeros<int>(2);
  unsigned* u = upload<unsigned>({0, ~0u});
  float* f = zeros<float>(2);
  unsigned long long* l = zeros<unsigned long long>(1);
  extremes<<<10, 100>>>(i, u, f, l);
  CHECK((download(i, 2) == std::vector<int>{-999, 999}));
  CHECK((download(u, 2) == std::vector<unsigned>{0x80000000u + 999, 5}));
  CHECK((download(f, 2) == std::vector<float>{499.5f, -499.5f}));
  CHECK(download(l, 1)[0] == (1ull << 40 | 999));
}

__global__ void bits(unsigned* b, unsigned* order) {
  atomicOr(b, 1u << threadIdx.x);
  atomicAnd(b + 1, ~(1u << threadIdx.x));
  atomicXor(b + 2, 3u);
  order[atomicInc(b + 3, 9)] = 1;
  atomicDec(b + 4, 7);
}

CASE(bits_and_counters_that_wrap) {
  unsigned* b = upload<unsigned>({0, ~0u, 0, 0, 0});
  unsigned* order = zeros<unsigned>(10);
  bits<<<1, 15>>>(b, order);
  CHECK((download(b, 5) == std::vector<unsigned>{0x7fff, ~0x7fffu, 3, 5, 1}));
  CHECK(download(order, 10) == std::vector<unsigned>(10, 1));
}

__global__ void locked(int* lock, float* total, float* exchanged) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *total += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  atomicExch(exchanged, 2.5f);
}

CASE(compare_and_swap_makes_a_lock) {
  int* lock = zeros<int>(1);
  float* total = zeros<float>(2);
  locked<<<20, 64>>>(lock, total, total + 1);
  CHECK((download(total, 2) == std::vector<float>{1280, 2.5f}));
}

// The addition of doubles for hardware without an instruction for it, as in old kernels.
__device__ double add_by_cas(double* address, double value) {
  unsigned long long int* as_integer = (unsigned long long int*)address;
  unsigned long long int old = *as_integer, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_integer, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__global__ void add_doubles(double* sum) { add_by_cas(sum, 0.5); }

CASE(a_loop_around_compare_and_swap) {
  double* sum = zeros<double>(1);
  add_doubles<<<10, 100>>>(sum);
  CHECK(download(sum, 1)[0] == 500);
}

__global__ void builtins(int* x, float* f) {
  __hip_atomic_fetch_add(x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(x + 1, (int)threadIdx.x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __hip_atomic_store(x + 2, 7, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_fetch_add(f, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (__hip_atomic_load(x + 2, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 7) x[0] = -1;
}

CASE(builtins_with_a_scope) {
  int* x = zeros<int>(3);
  float* f = zeros<float>(1);
  builtins<<<1, 100>>>(x, f);
  CHECK((download(x, 3) == std::vector<int>{100, 99, 7}));
  CHECK(download(f, 1)[0] == 50);
}

__global__ void add_pairs(__half2* h, __hip_bfloat162* b) {
  unsafeAtomicAdd(h, __floats2half2_rn(1, 2));
  unsafeAtomicAdd(b, __float22bfloat162_rn(make_float2(1, 2)));
}

CASE(pairs_of_narrow_numbers) {
  __half2* h = zeros<__half2>(1);
  __hip_bfloat162* b = zeros<__hip_bfloat162>(1);
  add_pairs<<<1, 100>>>(h, b);
  CHECK(__high2float(download(h, 1)[0]) == 200 && __low2float(download(b, 1)[0]) == 100);
}
