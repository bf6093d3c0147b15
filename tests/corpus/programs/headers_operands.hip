// Vectors of other element types as operands of matrix instructions: clang converts any vector of the same size.
#include "check.h"

using Short4 = short __attribute__((ext_vector_type(4)));
using Bfloat4 = __bf16 __attribute__((ext_vector_type(4)));
using SizedBfloat4 = __attribute__((__vector_size__(4 * sizeof(__bf16)))) __bf16;
using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using SizedHalf4 = __attribute__((__vector_size__(4 * sizeof(_Float16)))) _Float16;
using Int2 = int __attribute__((ext_vector_type(2)));
using Float4 = float __attribute__((ext_vector_type(4)));
using SizedFloat4 = __attribute__((__vector_size__(16))) float;

// clang gives both spellings of a vector one name, so `is_sized` tells the functions apart.
template <bool is_sized, class Operand, class Sum>
__global__ void multiply_bfloats(const Operand* a, const Operand* b, Sum* c) {
  const Sum sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x], 0, 0, 0);
  c[threadIdx.x] = __builtin_amdgcn_mfma_f32_4x4x4bf16_1k(b[threadIdx.x], a[threadIdx.x], sum, 0, 0, 0);
}

template <bool is_sized, class Operand>
__global__ void multiply_halves(const Operand* a, const Operand* b, Float4* c) {
  c[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[threadIdx.x], b[threadIdx.x], {}, 0, 0, 0);
  c[threadIdx.x] += __builtin_amdgcn_mfma_f32_4x4x4f16(b[threadIdx.x], a[threadIdx.x], Float4{1, 2}, 0, 0, 0);
}

__global__ void multiply_sparse(const Bfloat4* a, Float4* c) {
  using Bfloat8 = __bf16 __attribute__((ext_vector_type(8)));
  const Bfloat8 b = __builtin_shufflevector(a[0], a[1], 0, 1, 2, 3, 4, 5, 6, 7);
  c[threadIdx.x] = __builtin_amdgcn_smfmac_f32_16x16x32_bf16(a[threadIdx.x], b, c[threadIdx.x], 0x4444, 0, 0);
}

// Whole numbers from -3 to 4, as the upper halves of floats or as halves.
template <bool is_bfloat>
std::vector<uint64_t> codes(unsigned seed) {
  std::vector<uint64_t> words(64);
  for (size_t i = 0; i < 256; ++i) {
    const float value = static_cast<float>((i * i + seed * i + i / 7) % 8) - 3;
    uint16_t code;
    if (is_bfloat) {
      std::memcpy(&code, reinterpret_cast<const char*>(&value) + 2, 2);
    } else {
      const auto half = static_cast<_Float16>(value);
      std::memcpy(&code, &half, 2);
    }
    words[i / 4] |= uint64_t{code} << i % 4 * 16;
  }
  return words;
}

template <class Operand, class Sum, bool is_sized = false>
std::vector<Float4> bfloat_products() {
  const auto a = reinterpret_cast<const Operand*>(upload(codes<true>(1)));
  const auto b = reinterpret_cast<const Operand*>(upload(codes<true>(5)));
  const auto c = zeros<Float4>(64);
  multiply_bfloats<is_sized, Operand, Sum><<<1, 64>>>(a, b, reinterpret_cast<Sum*>(c));
  return download(c, 64);
}

template <class Operand, bool is_sized = false>
std::vector<Float4> half_products() {
  const auto a = reinterpret_cast<const Operand*>(upload(codes<false>(1)));
  const auto b = reinterpret_cast<const Operand*>(upload(codes<false>(5)));
  const auto c = zeros<Float4>(64);
  multiply_halves<is_sized, Operand><<<1, 64>>>(a, b, c);
  return download(c, 64);
}

bool are_equal(const std::vector<Float4>& one, const std::vector<Float4>& other) {
  return one[5].x != 0 && std::memcmp(one.data(), other.data(), one.size() * sizeof(Float4)) == 0;
}

CASE(bfloats_of_every_vector_type) {
  const std::vector<Float4> wanted = bfloat_products<Short4, Float4>();
  CHECK(are_equal(wanted, (bfloat_products<Bfloat4, Float4>())));
  CHECK(are_equal(wanted, (bfloat_products<SizedBfloat4, SizedFloat4, true>())));
  CHECK(are_equal(wanted, (bfloat_products<Int2, Float4>())));
}

CASE(halves_of_every_vector_type) {
  const std::vector<Float4> wanted = half_products<Half4>();
  CHECK(are_equal(wanted, (half_products<SizedHalf4, true>())));
  CHECK(are_equal(wanted, half_products<Short4>()));
}

CASE(sparse_bfloats) {
  const auto a = reinterpret_cast<const Bfloat4*>(upload(codes<true>(1)));
  const auto c = zeros<Float4>(64);
  multiply_sparse<<<1, 64>>>(a, c);
  CHECK(download(c, 64)[5].x != 0);
}
