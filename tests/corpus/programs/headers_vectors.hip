// Short vectors: layout, arithmetic, and typical uses.
#include "check.h"

static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(sizeof(float2) == 8 && alignof(float2) == 8);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
static_assert(sizeof(double4) == 32);
static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
static_assert(sizeof(char3) == 3 && sizeof(short4) == 8 && sizeof(ulonglong2) == 16);
static_assert(std::is_trivially_default_constructible_v<float4> && std::is_trivially_copyable_v<int3>);

CASE(arithmetic_goes_component_by_component) {
  float4 a = make_float4(1, 2, 3, 4);
  const float4 b{4, 3, 2, 1};
  CHECK((a + b == float4(5.0f)));
  CHECK((a * b == make_float4(4, 6, 6, 4)));
  CHECK((2 * a - 1 == make_float4(1, 3, 5, 7)));
  CHECK((-a / 2.0f == make_float4(-0.5f, -1, -1.5f, -2)));
  a += b;
  a *= 2;
  CHECK(a == 10.0f && a != b);
  int3 i = make_int3(7, 8, 9);
  i %= make_int3(4, 4, 4);
  i = i << 2;
  CHECK((i == make_int3(12, 0, 4)));
  CHECK((~make_uint2(0, 1) == make_uint2(~0u, ~1u)));
  CHECK((i++ == make_int3(12, 0, 4) && i == make_int3(13, 1, 5)));
}

CASE(small_integers_do_not_grow) {
  const uchar4 sum = make_uchar4(200, 1, 2, 3) + make_uchar4(100, 1, 1, 1);
  CHECK(sum.x == 44 && sum.y == 2);
}

CASE(components_can_be_indexed) {
  float3 v{1, 2, 3};
  v[1] = 5;
  CHECK(v.y == 5 && (&v.x)[2] == 3);
}

// An operator that the author defines, as in ported CUDA code, is preferred to that of the header.
inline __host__ __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, -1); }
inline __host__ __device__ void operator+=(float2& a, float2 b) { a.x = 100 + b.x; }

CASE(an_author_may_define_operators) {
  float2 a = make_float2(1, 2);
  CHECK((a + a).y == -1);
  a += a;
  CHECK(a.x == 101);
}

__global__ void scale4(const float* x, float* y, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = reinterpret_cast<const float4*>(x)[i];
  v.x *= 2;
  v.y *= 3;
  v = v + make_float4(1, 1, 1, 1);
  *(float4*)(y + 4 * i) = v;
}

CASE(a_kernel_reads_floats_as_float4) {
  const std::vector<float> x = noise(1024);
  float* y = zeros<float>(1024);
  scale4<<<4, 64>>>(upload(x), y, 256);
  const std::vector<float> got = download(y, 1024);
  CHECK(got[4] == x[4] * 2 + 1 && got[5] == x[5] * 3 + 1 && got[1023] == x[1023] + 1);
}

__global__ void rotate(float4* out) {
  __shared__ float4 tile[64];
  tile[threadIdx.x] = make_float4(threadIdx.x, 0, 0, 1);
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}

CASE(shared_memory_holds_vectors) {
  float4* out = zeros<float4>(64);
  rotate<<<1, 64>>>(out);
  const std::vector<float4> got = download(out, 64);
  CHECK(got[0].x == 1 && got[63].x == 0 && got[5].w == 1);
}

using Words = int __attribute__((ext_vector_type(4)));

// An MI300X loads and stores vectors at any address.
__global__ void shift(const char* from, char* to, size_t offset) {
  __shared__ alignas(16) char rows[4][72];
  for (int part = threadIdx.x; part < 4; part += blockDim.x) {
    char* row = &rows[part][offset];
    *reinterpret_cast<float4*>(row) = *reinterpret_cast<const float4*>(from + offset + 64 * part);
    *reinterpret_cast<Words*>(row + 16) = *reinterpret_cast<const Words*>(from + offset + 64 * part + 16);
    *reinterpret_cast<__uint128_t*>(row + 32) = *reinterpret_cast<const __uint128_t*>(from + offset + 64 * part + 32);
    *reinterpret_cast<double2*>(to + 48 * part) = *reinterpret_cast<const double2*>(row);
    *reinterpret_cast<Words*>(to + 48 * part + 16) = *reinterpret_cast<const Words*>(row + 16) + 0;
    *reinterpret_cast<int4*>(to + 48 * part + 32) = *reinterpret_cast<const int4*>(row + 32);
  }
}

CASE(vectors_can_be_at_any_address) {
  std::vector<char> bytes(320);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  for (size_t offset = 0; offset < 16; ++offset) {
    const auto [from, to] = std::pair(upload(bytes), zeros<char>(192));
    shift<<<1, 2>>>(from, to, offset);
    const std::vector<char> got = download(to, 192);
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == bytes[offset + i / 48 * 64 + i % 48]);
  }
}
