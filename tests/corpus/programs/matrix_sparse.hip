// Every matrix instruction of gfx942 with a sparse A: one wave multiplies operands from a file. The X-ray's compiler must accept
// the part before main for gfx942.
#include <hip/hip_runtime.h>

typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef _Float16 halfx4 __attribute__((ext_vector_type(4)));
typedef _Float16 halfx8 __attribute__((ext_vector_type(8)));
typedef short shortx4 __attribute__((ext_vector_type(4)));
typedef short shortx8 __attribute__((ext_vector_type(8)));
typedef int intx2 __attribute__((ext_vector_type(2)));
typedef int intx4 __attribute__((ext_vector_type(4)));
typedef int intx16 __attribute__((ext_vector_type(16)));

#define FORMS(X)                                      \
  X(f32_16x16x32_f16, halfx4, halfx8, floatx4)        \
  X(f32_32x32x16_f16, halfx4, halfx8, floatx16)       \
  X(f32_16x16x32_bf16, shortx4, shortx8, floatx4)     \
  X(f32_32x32x16_bf16, shortx4, shortx8, floatx16)    \
  X(i32_16x16x64_i8, intx2, intx4, intx4)             \
  X(i32_32x32x32_i8, intx2, intx4, intx16)            \
  X(f32_16x16x64_bf8_bf8, intx2, intx4, floatx4)      \
  X(f32_16x16x64_bf8_fp8, intx2, intx4, floatx4)      \
  X(f32_16x16x64_fp8_bf8, intx2, intx4, floatx4)      \
  X(f32_16x16x64_fp8_fp8, intx2, intx4, floatx4)      \
  X(f32_32x32x32_bf8_bf8, intx2, intx4, floatx16)     \
  X(f32_32x32x32_bf8_fp8, intx2, intx4, floatx16)     \
  X(f32_32x32x32_fp8_bf8, intx2, intx4, floatx16)     \
  X(f32_32x32x32_fp8_fp8, intx2, intx4, floatx16)

#define KERNEL(name, A, B, C)                                                                       \
  template <int cbsz, int abid>                                                                     \
  __global__ void name(const A* a, const B* b, const int* index, C* c) {                            \
    const int lane = threadIdx.x;                                                                   \
    c[lane] = __builtin_amdgcn_smfmac_##name(a[lane], b[lane], c[lane], index[lane], cbsz, abid);   \
  }                                                                                                 \
  template __global__ void name<0, 0>(const A*, const B*, const int*, C*);
FORMS(KERNEL)

// The sets of indices. A cbsz other than 0 selects the first one.
#define MODIFIED(X)                                                                               \
  X(f32_16x16x32_f16, 0, 1) X(f32_16x16x32_f16, 0, 2) X(f32_16x16x32_f16, 0, 3)                   \
  X(f32_16x16x32_f16, 1, 0) X(f32_16x16x32_f16, 2, 3) X(f32_32x32x16_f16, 0, 2)                   \
  X(f32_16x16x32_bf16, 0, 3) X(f32_32x32x16_bf16, 0, 1) X(f32_32x32x16_bf16, 3, 1)                \
  X(i32_16x16x64_i8, 0, 1) X(i32_32x32x32_i8, 0, 1) X(i32_32x32x32_i8, 1, 1)                      \
  X(f32_16x16x64_fp8_fp8, 0, 1) X(f32_32x32x32_bf8_fp8, 0, 1) X(f32_32x32x32_fp8_bf8, 2, 1)

// main

#include <cstdio>
#include <cstring>
#include <vector>

template <class A, class B, class C>
void run(void (*launch)(const A*, const B*, const int*, C*), const char* name, FILE* in, FILE* out) {
  std::vector<char> host(64 * (sizeof(A) + sizeof(B) + sizeof(C) + sizeof(int)));
  char asked[64] = {};
  if (fread(asked, 1, sizeof asked, in) != sizeof asked || strcmp(asked, name) != 0) {
    fprintf(stderr, "expected %s, got %s\n", name, asked);
    exit(2);
  }
  if (fread(host.data(), 1, host.size(), in) != host.size()) exit(3);
  char* device;
  hipMalloc(&device, host.size());
  C* c = reinterpret_cast<C*>(device);
  B* b = reinterpret_cast<B*>(c + 64);
  A* a = reinterpret_cast<A*>(b + 64);
  hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice);
  launch(a, b, reinterpret_cast<int*>(a + 64), c);
  hipMemcpy(host.data(), device, host.size(), hipMemcpyDeviceToHost);
  fwrite(host.data(), sizeof(C), 64, out);
  hipFree(device);
}

#define TYPES(name, A, B, C) \
  using a_##name = A;        \
  using b_##name = B;        \
  using c_##name = C;
FORMS(TYPES)
#define RUN(name, cbsz, abid)                                                              \
  run(+[](const a_##name* a, const b_##name* b, const int* index, c_##name* c) {           \
        name<cbsz, abid><<<1, 64>>>(a, b, index, c);                                       \
      },                                                                                   \
      #name " " #cbsz " " #abid, in, out);
#define RUN_PLAIN(name, A, B, C) RUN(name, 0, 0)

__global__ void under_a_branch(halfx4* a, halfx8* b, floatx4* c) {
  if (threadIdx.x < 32)
    *c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(*a, *b, *c, 0, 0, 0);
}
__global__ void with_set_that_does_not_exist(intx2* a, intx4* b, intx4* c) {
  *c = __builtin_amdgcn_smfmac_i32_16x16x64_i8(*a, *b, *c, 0, 0, 2);
}
__global__ void with_modifier_that_does_not_exist(intx2* a, intx4* b, intx4* c) {
  *c = __builtin_amdgcn_smfmac_i32_16x16x64_i8(*a, *b, *c, 0, 4, 0);
}

int main(int count, char** argv) {
  if (count == 2) {
    char* x;
    hipMalloc(&x, 64);
    if (strcmp(argv[1], "under_a_branch") == 0) under_a_branch<<<1, 64>>>((halfx4*)x, (halfx8*)x, (floatx4*)x);
    if (strcmp(argv[1], "with_set_that_does_not_exist") == 0)
      with_set_that_does_not_exist<<<1, 64>>>((intx2*)x, (intx4*)x, (intx4*)x);
    if (strcmp(argv[1], "with_modifier_that_does_not_exist") == 0)
      with_modifier_that_does_not_exist<<<1, 64>>>((intx2*)x, (intx4*)x, (intx4*)x);
    return 0;
  }
  FILE* in = fopen(argv[1], "rb");
  FILE* out = fopen(argv[2], "wb");
  FORMS(RUN_PLAIN)
  MODIFIED(RUN)
  fclose(out);
}
