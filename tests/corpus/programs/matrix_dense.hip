// Every dense matrix instruction of gfx942: one wave multiplies operands from a file. The X-ray's compiler must accept the
// part before main for gfx942.
#include <hip/hip_runtime.h>

typedef float floatx2 __attribute__((ext_vector_type(2)));
typedef float floatx4 __attribute__((ext_vector_type(4)));
using floatx16 = __attribute__((__vector_size__(16 * sizeof(float)))) float;
using floatx32 = float __attribute__((ext_vector_type(32)));
typedef double doublex4 __attribute__((ext_vector_type(4)));
typedef __attribute__((ext_vector_type(4))) _Float16 halfx4;
typedef short shortx4 __attribute__((ext_vector_type(4)));
typedef int intx4 __attribute__((ext_vector_type(4)));
typedef int intx16 __attribute__((ext_vector_type(16)));
typedef int intx32 __attribute__((ext_vector_type(32)));

#define FORMS(X)                           \
  X(f32_32x32x1f32, float, floatx32)       \
  X(f32_16x16x1f32, float, floatx16)       \
  X(f32_4x4x1f32, float, floatx4)          \
  X(f32_32x32x2f32, float, floatx16)       \
  X(f32_16x16x4f32, float, floatx4)        \
  X(f32_32x32x4f16, halfx4, floatx32)      \
  X(f32_16x16x4f16, halfx4, floatx16)      \
  X(f32_4x4x4f16, halfx4, floatx4)         \
  X(f32_32x32x8f16, halfx4, floatx16)      \
  X(f32_16x16x16f16, halfx4, floatx4)      \
  X(f32_32x32x4bf16_1k, shortx4, floatx32) \
  X(f32_16x16x4bf16_1k, shortx4, floatx16) \
  X(f32_4x4x4bf16_1k, shortx4, floatx4)    \
  X(f32_32x32x8bf16_1k, shortx4, floatx16) \
  X(f32_16x16x16bf16_1k, shortx4, floatx4) \
  X(i32_32x32x4i8, int, intx32)            \
  X(i32_16x16x4i8, int, intx16)            \
  X(i32_4x4x4i8, int, intx4)               \
  X(i32_32x32x16_i8, long, intx16)         \
  X(i32_16x16x32_i8, long, intx4)          \
  X(f32_16x16x8_xf32, floatx2, floatx4)    \
  X(f32_32x32x4_xf32, floatx2, floatx16)   \
  X(f64_16x16x4f64, double, doublex4)      \
  X(f64_4x4x4f64, double, double)          \
  X(f32_16x16x32_bf8_bf8, long, floatx4)   \
  X(f32_16x16x32_bf8_fp8, long, floatx4)   \
  X(f32_16x16x32_fp8_bf8, long, floatx4)   \
  X(f32_16x16x32_fp8_fp8, long, floatx4)   \
  X(f32_32x32x16_bf8_bf8, long, floatx16)  \
  X(f32_32x32x16_bf8_fp8, long, floatx16)  \
  X(f32_32x32x16_fp8_bf8, long, floatx16)  \
  X(f32_32x32x16_fp8_fp8, long, floatx16)

#define KERNEL(name, A, C)                                                                         \
  template <int cbsz, int abid, int blgp>                                                          \
  __global__ void name(const A* a, const A* b, C* c) {                                             \
    const int lane = threadIdx.x;                                                                  \
    c[lane] = __builtin_amdgcn_mfma_##name(a[lane], b[lane], c[lane], cbsz, abid, blgp);           \
  }                                                                                                \
  template __global__ void name<0, 0, 0>(const A*, const A*, C*);
FORMS(KERNEL)

// The blocks of A that share one, and patterns of the lanes of B.
#define MODIFIED(X)                                                                                 \
  X(f32_32x32x1f32, 1, 0, 0) X(f32_32x32x1f32, 1, 1, 0) X(f32_32x32x1f32, 1, 1, 3)                  \
  X(f32_32x32x1f32, 0, 0, 1) X(f32_32x32x1f32, 0, 0, 2) X(f32_32x32x1f32, 0, 0, 4)                  \
  X(f32_16x16x1f32, 1, 1, 0) X(f32_16x16x1f32, 2, 3, 0) X(f32_16x16x1f32, 2, 2, 5)                  \
  X(f32_4x4x1f32, 1, 1, 0) X(f32_4x4x1f32, 2, 1, 0) X(f32_4x4x1f32, 3, 6, 7) X(f32_4x4x1f32, 4, 11, 0) \
  X(f32_32x32x2f32, 0, 0, 1) X(f32_32x32x2f32, 0, 0, 3) X(f32_32x32x2f32, 0, 0, 6)                  \
  X(f32_16x16x4f32, 0, 0, 2) X(f32_16x16x4f32, 0, 0, 3) X(f32_16x16x4f32, 0, 0, 7)                  \
  X(f32_32x32x4f16, 1, 1, 2) X(f32_16x16x4f16, 2, 1, 3) X(f32_4x4x4f16, 3, 5, 1)                    \
  X(f32_32x32x4bf16_1k, 1, 0, 4) X(f32_16x16x4bf16_1k, 1, 1, 6) X(f32_4x4x4bf16_1k, 4, 15, 3)       \
  X(i32_32x32x4i8, 1, 1, 3) X(i32_16x16x4i8, 2, 3, 2) X(i32_4x4x4i8, 2, 2, 5)                       \
  X(f64_16x16x4f64, 0, 0, 1) X(f64_16x16x4f64, 0, 0, 2) X(f64_16x16x4f64, 0, 0, 4)                  \
  X(f64_4x4x4f64, 0, 0, 7) X(f64_4x4x4f64, 0, 0, 5)

// main

#include <cstdio>
#include <cstring>
#include <vector>

template <class A, class C>
void run(void (*launch)(const A*, const A*, C*), const char* name, FILE* in, FILE* out) {
  std::vector<char> host(64 * (2 * sizeof(A) + sizeof(C)));
  char asked[64] = {};
  if (fread(asked, 1, sizeof asked, in) != sizeof asked || strcmp(asked, name) != 0) {
    fprintf(stderr, "expected %s, got %s\n", name, asked);
    exit(2);
  }
  if (fread(host.data(), 1, host.size(), in) != host.size()) exit(3);
  char* device;
  hipMalloc(&device, host.size());
  C* c = reinterpret_cast<C*>(device);
  A* a = reinterpret_cast<A*>(c + 64);
  hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice);
  launch(a, a + 64, c);
  hipMemcpy(host.data(), device, host.size(), hipMemcpyDeviceToHost);
  fwrite(host.data(), sizeof(C), 64, out);
  hipFree(device);
}

#define TYPES(name, A, C)  \
  using operand_##name = A; \
  using result_##name = C;
FORMS(TYPES)
#define RUN(name, cbsz, abid, blgp)                                                        \
  run(+[](const operand_##name* a, const operand_##name* b, result_##name* c) {            \
        name<cbsz, abid, blgp><<<1, 64>>>(a, b, c);                                        \
      },                                                                                   \
      #name " " #cbsz " " #abid " " #blgp, in, out);
#define RUN_PLAIN(name, A, C) RUN(name, 0, 0, 0)

__global__ void under_a_branch(float* x, floatx4* c) {
  if (threadIdx.x % 2 == 0) {
    *c = __builtin_amdgcn_mfma_f32_16x16x4f32(*x, *x, *c, 0, 0, 0);
  }
}
__global__ void in_both_branches(float* x, floatx4* c) {
  if (threadIdx.x < 32)
    *c = __builtin_amdgcn_mfma_f32_16x16x4f32(*x, *x, *c, 0, 0, 0);
  else
    *c = __builtin_amdgcn_mfma_f32_16x16x4f32(*x, *x, *c, 0, 0, 0);
}
__global__ void after_a_return(float* x, floatx4* c) {
  if (threadIdx.x == 5) return;
  *c = __builtin_amdgcn_mfma_f32_16x16x4f32(*x, *x, *c, 0, 0, 0);
}
__global__ void with_broadcast(float* x, floatx4* c) {
  *c = __builtin_amdgcn_mfma_f32_16x16x4f32(*x, *x, *c, 1, 0, 0);
}
__global__ void with_block_that_does_not_exist(float* x, floatx4* c) {
  *c = __builtin_amdgcn_mfma_f32_4x4x1f32(*x, *x, *c, 2, 4, 0);
}
__global__ void with_pattern(halfx4* h, floatx4* c) {
  *c = __builtin_amdgcn_mfma_f32_16x16x16f16(*h, *h, *c, 0, 0, 3);
}

void fault(const char* name, float* x, floatx4* c) {
  if (strcmp(name, "under_a_branch") == 0) under_a_branch<<<1, 64>>>(x, c);
  if (strcmp(name, "in_both_branches") == 0) in_both_branches<<<1, 64>>>(x, c);
  if (strcmp(name, "after_a_return") == 0) after_a_return<<<1, 64>>>(x, c);
  if (strcmp(name, "in_half_a_wave") == 0) in_both_branches<<<1, 32>>>(x, c);
  if (strcmp(name, "with_broadcast") == 0) with_broadcast<<<1, 64>>>(x, c);
  if (strcmp(name, "with_block_that_does_not_exist") == 0) with_block_that_does_not_exist<<<1, 64>>>(x, c);
  if (strcmp(name, "with_pattern") == 0) with_pattern<<<1, 64>>>((halfx4*)x, c);
}

int main(int count, char** argv) {
  if (count == 2) {
    float* x;
    hipMalloc(&x, 64);
    fault(argv[1], x, (floatx4*)x);
    return 0;
  }
  FILE* in = fopen(argv[1], "rb");
  FILE* out = fopen(argv[2], "wb");
  FORMS(RUN_PLAIN)
  MODIFIED(RUN)
  fclose(out);
}
