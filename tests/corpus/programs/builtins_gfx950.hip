// Builtins that only gfx950 has: exchanges of rows, and loads to LDS of 12 and 16 bytes per lane.
#include "check.h"

#if defined(__HIP_DEVICE_COMPILE__) && (!defined(__gfx950__) || defined(__gfx942__))
#error "the macros of gfx950 must be defined"
#endif

using Pair = unsigned __attribute__((ext_vector_type(2)));

__global__ void swap(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const Pair by_16 = __builtin_amdgcn_permlane16_swap(lane, 100 + lane, false, false);
  const auto by_32 = __builtin_amdgcn_permlane32_swap(lane, 100 + lane, false, true);
  out[lane] = by_16.x;
  out[64 + lane] = by_16.y;
  out[128 + lane] = by_32[0];
  out[192 + lane] = by_32[1];
}

CASE(rows_are_exchanged) {
  unsigned* out = zeros<unsigned>(256);
  swap<<<1, 64>>>(out);
  const std::vector<unsigned> got = download(out, 256);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const bool odd = lane / 16 % 2;
    CHECK(got[lane] == (odd ? 100 + lane - 16 : lane));
    CHECK(got[64 + lane] == (odd ? 100 + lane : lane + 16));
    CHECK(got[128 + lane] == (lane < 32 ? lane : 100 + lane - 32));
    CHECK(got[192 + lane] == (lane < 32 ? lane + 32 : 100 + lane));
  }
}

template <int bytes>
__global__ void load_to_lds(const unsigned* from, unsigned* out) {
  __shared__ unsigned tile[256];
  constexpr unsigned words = bytes / 4;
  // Each lane has its own source; the target is that of the first lane.
  const unsigned* source = from + words * (63 - threadIdx.x);
  auto* from_lane = (__attribute__((address_space(1))) void*)source;
  auto* to_wave = (__attribute__((address_space(3))) void*)tile;
  // Clang requires a number: it does not accept the parameter of a template.
  if constexpr (bytes == 4) __builtin_amdgcn_global_load_lds(from_lane, to_wave, 4, 0, 0);
  if constexpr (bytes == 12) __builtin_amdgcn_global_load_lds(from_lane, to_wave, 12, 0, 0);
  if constexpr (bytes == 16) __builtin_amdgcn_global_load_lds(from_lane, to_wave, 16, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  for (unsigned i = 0; i < words; ++i) out[words * threadIdx.x + i] = tile[words * threadIdx.x + i];
}

template <int bytes>
void check_loads() {
  constexpr unsigned words = bytes / 4;
  std::vector<unsigned> values(64 * words);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = 7 * i;
  unsigned* out = zeros<unsigned>(values.size());
  load_to_lds<bytes><<<1, 64>>>(upload(values), out);
  const std::vector<unsigned> got = download(out, values.size());
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < words; ++i) CHECK(got[words * lane + i] == values[words * (63 - lane) + i]);
}

CASE(wide_loads_to_lds) {
  check_loads<4>();
  check_loads<12>();
  check_loads<16>();
}

// Clang accepts the constraint "i" for a value that it knows after unrolling.
template <int rows>
__global__ void assembly(const float* x, const unsigned* codes, float* out) {
  __shared__ alignas(16) float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const unsigned address = (unsigned)(size_t)(__attribute__((address_space(3))) float*)tile;
  float sum = 1.0f;
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    const int offset = row * 16;
    float value;
    asm volatile("ds_read_b32 %0, %1 offset:%2\ns_waitcnt lgkmcnt(0)\n" : "=v"(value) : "v"(address), "i"(offset) : "memory");
    asm volatile("v_fmac_f32 %0, %1, %2" : "+v"(sum) : "v"(value), "v"(2.0f));
  }
  float decoded;
  asm volatile("v_cvt_f32_fp8 %0, %1" : "=v"(decoded) : "v"(codes[threadIdx.x]));
  out[threadIdx.x] = sum + decoded;
}

CASE(assembly_with_known_values) {
  const std::vector<float> values = noise(64);
  // The OCP codes of 0, 1, 2 and 3.
  const unsigned codes[] = {0x00, 0x38, 0x40, 0x44};
  std::vector<unsigned> given(64);
  for (unsigned i = 0; i < 64; ++i) given[i] = codes[i % 4];
  float* out = zeros<float>(64);
  assembly<3><<<1, 64>>>(upload(values), upload(given), out);
  const std::vector<float> got = download(out, 64);
  for (unsigned i = 0; i < 64; ++i)
    CHECK(got[i] == std::fma(values[8], 2.0f, std::fma(values[4], 2.0f, std::fma(values[0], 2.0f, 1.0f))) + float(i % 4));
}
