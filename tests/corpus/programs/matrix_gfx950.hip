// The matrix instructions that only gfx950 (MI355X) has: one wave multiplies operands from a file. The X-ray's compiler must accept
// the part before main for gfx950.
#include <hip/hip_runtime.h>

typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef __attribute__((__vector_size__(8 * sizeof(__fp16)))) __fp16 halfx8;
typedef __bf16 bfloatx8 __attribute__((ext_vector_type(8)));
typedef int intx4 __attribute__((ext_vector_type(4)));
typedef int intx8 __attribute__((ext_vector_type(8)));
typedef int intx16 __attribute__((ext_vector_type(16)));

#define FORMS(X)                             \
  X(f32_16x16x32_f16, halfx8, floatx4)       \
  X(f32_32x32x16_f16, halfx8, floatx16)      \
  X(f32_16x16x32_bf16, bfloatx8, floatx4)    \
  X(f32_32x32x16_bf16, bfloatx8, floatx16)   \
  X(i32_16x16x64_i8, intx4, intx4)           \
  X(i32_32x32x32_i8, intx4, intx16)          \
  X(f32_16x16x32_fp8_fp8, long, floatx4)     \
  X(f32_16x16x32_fp8_bf8, long, floatx4)     \
  X(f32_32x32x16_bf8_fp8, long, floatx16)    \
  X(f32_32x32x16_bf8_bf8, long, floatx16)

#define KERNEL(name, A, C)                                                         \
  __global__ void name(const A* a, const A* b, C* c) {                             \
    const int lane = threadIdx.x;                                                  \
    c[lane] = __builtin_amdgcn_mfma_##name(a[lane], b[lane], c[lane], 0, 0, 0);    \
  }
FORMS(KERNEL)

// With a scale per 32 elements. The formats are 0 to 4: e4m3, e5m2, e2m3, e3m2, e2m1.
template <int format_a, int format_b, int select_a, int select_b>
__global__ void scaled_16(const intx8* a, const intx8* b, const int* scale_a, const int* scale_b, floatx4* c) {
  const int lane = threadIdx.x;
  c[lane] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[lane], b[lane], c[lane], format_a, format_b, select_a,
                                                             scale_a[lane], select_b, scale_b[lane]);
}
template <int format_a, int format_b, int select_a, int select_b>
__global__ void scaled_32(const intx8* a, const intx8* b, const int* scale_a, const int* scale_b, floatx16* c) {
  const int lane = threadIdx.x;
  c[lane] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[lane], b[lane], c[lane], format_a, format_b, select_a,
                                                            scale_a[lane], select_b, scale_b[lane]);
}
template __global__ void scaled_16<0, 4, 1, 2>(const intx8*, const intx8*, const int*, const int*, floatx4*);
template __global__ void scaled_32<2, 3, 3, 0>(const intx8*, const intx8*, const int*, const int*, floatx16*);

// Without scales: both are the constant 0.
__global__ void unscaled(const intx8* a, const intx8* b, floatx4* c) {
  const int lane = threadIdx.x;
  c[lane] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[lane], b[lane], c[lane], 0, 1, 0, 0, 0, 0);
}

// main

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Reads the name of a case and its operands, launches, and writes D.
template <class C, class Launch>
void run(const char* name, size_t operand_bytes, FILE* in, FILE* out, Launch launch) {
  std::vector<char> host(64 * (2 * operand_bytes + sizeof(C) + 8));
  char asked[64] = {};
  if (fread(asked, 1, sizeof asked, in) != sizeof asked || strcmp(asked, name) != 0) {
    fprintf(stderr, "expected %s, got %s\n", name, asked);
    exit(2);
  }
  if (fread(host.data(), 1, host.size(), in) != host.size()) exit(3);
  char* device;
  hipMalloc(&device, host.size());
  hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice);
  char* a = device + 64 * sizeof(C);
  char* b = a + 64 * operand_bytes;
  int* scales = reinterpret_cast<int*>(b + 64 * operand_bytes);
  launch(a, b, scales, reinterpret_cast<C*>(device));
  hipMemcpy(host.data(), device, host.size(), hipMemcpyDeviceToHost);
  fwrite(host.data(), sizeof(C), 64, out);
  hipFree(device);
}

#define RUN(name, A, C)                                             \
  run<C>(#name, sizeof(A), in, out, [](char* a, char* b, int*, C* c) { \
    name<<<1, 64>>>(reinterpret_cast<A*>(a), reinterpret_cast<A*>(b), c); \
  });
#define RUN_SCALED(format_a, format_b, select_a, select_b)                                                       \
  run<floatx4>("16 " #format_a " " #format_b " " #select_a " " #select_b, 32, in, out,                          \
               [](char* a, char* b, int* s, floatx4* c) {                                                        \
                 scaled_16<format_a, format_b, select_a, select_b><<<1, 64>>>((intx8*)a, (intx8*)b, s, s + 64, c); \
               });                                                                                               \
  run<floatx16>("32 " #format_a " " #format_b " " #select_a " " #select_b, 32, in, out,                         \
                [](char* a, char* b, int* s, floatx16* c) {                                                      \
                  scaled_32<format_a, format_b, select_a, select_b><<<1, 64>>>((intx8*)a, (intx8*)b, s, s + 64, c); \
                });
#define PAIRS(X)                                                                       \
  X(0, 0, 0, 0) X(0, 1, 1, 0) X(0, 2, 2, 1) X(0, 3, 3, 2) X(0, 4, 0, 3)                \
  X(1, 0, 0, 1) X(1, 1, 1, 1) X(1, 2, 2, 3) X(1, 3, 3, 0) X(1, 4, 0, 2)                \
  X(2, 0, 0, 2) X(2, 1, 1, 3) X(2, 2, 2, 2) X(2, 3, 3, 1) X(2, 4, 0, 1)                \
  X(3, 0, 0, 3) X(3, 1, 1, 2) X(3, 2, 2, 0) X(3, 3, 3, 3) X(3, 4, 0, 0)                \
  X(4, 0, 1, 0) X(4, 1, 1, 1) X(4, 2, 2, 0) X(4, 3, 3, 1) X(4, 4, 0, 0)

__global__ void with_format_that_does_not_exist(intx8* a, floatx4* c, int s) {
  *c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *c, 5, 0, 0, s, 0, s);
}
__global__ void with_byte_that_does_not_exist(intx8* a, floatx4* c, int s) {
  *c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *c, 0, 0, 0, s, 4, s);
}
__global__ void under_a_branch(intx8* a, floatx4* c, int s) {
  if (threadIdx.x > 15)
    *c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *c, 0, 0, 0, s, 0, s);
}

__global__ void convert(int* codes) {
  codes[0] = __builtin_amdgcn_cvt_pk_fp8_f32(1.0f, 448.0f, 0, false);
  codes[1] = __builtin_amdgcn_cvt_pk_bf8_f32(1.0f, 57344.0f, 0, false);
}

__global__ void fill(float* result, int count) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *result = tile[count - 1];
}

// Prints whether a block can have this much shared memory.
void use_shared_memory(int bytes) {
  float* result;
  hipMalloc(&result, 4);
  fill<<<1, 64, bytes>>>(result, bytes / 4);
  hipDeviceProp_t properties;
  hipGetDeviceProperties(&properties, 0);
  printf("%s %zu %s\n", properties.gcnArchName, properties.sharedMemPerBlock, hipGetErrorName(hipGetLastError()));
}

void print_codes() {
  int* codes;
  hipMalloc(&codes, 8);
  convert<<<1, 1>>>(codes);
  int host[2];
  hipMemcpy(host, codes, 8, hipMemcpyDeviceToHost);
  printf("%04x %04x\n", host[0], host[1]);
}

int main(int count, char** argv) {
  if (count == 2 && strcmp(argv[1], "convert") == 0) {
    print_codes();
    return 0;
  }
  if (count == 3 && strcmp(argv[1], "shared") == 0) {
    use_shared_memory(atoi(argv[2]));
    return 0;
  }
  if (count == 2) {
    char* x;
    hipMalloc(&x, 64);
    intx8* a = (intx8*)x;
    floatx4* c = (floatx4*)x;
    if (strcmp(argv[1], "with_format_that_does_not_exist") == 0) with_format_that_does_not_exist<<<1, 64>>>(a, c, 1);
    if (strcmp(argv[1], "with_byte_that_does_not_exist") == 0) with_byte_that_does_not_exist<<<1, 64>>>(a, c, 1);
    if (strcmp(argv[1], "under_a_branch") == 0) under_a_branch<<<1, 64>>>(a, c, 1);
    return 0;
  }
  FILE* in = fopen(argv[1], "rb");
  FILE* out = fopen(argv[2], "wb");
  FORMS(RUN)
  PAIRS(RUN_SCALED)
  run<floatx4>("unscaled", 32, in, out, [](char* a, char* b, int*, floatx4* c) {
    unscaled<<<1, 64>>>((intx8*)a, (intx8*)b, c);
  });
  fclose(out);
}
