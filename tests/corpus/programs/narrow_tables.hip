// Writes tables of the narrow types to the folder in argv[1], one file per table: what each code means, what every
// number of 16 bits becomes, and sums. A test compares them with an independent implementation.
#include <hip/amd_detail/amd_hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/amd_detail/amd_hip_fp16.h>
#include <hip/hip_fp4.h>
#include <hip/hip_fp6.h>
#include <hip/amd_detail/amd_hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

constexpr int kAll = 65536;
static std::string folder;

// The codes of one number, by the type and its conversions.

template <class Narrow>
__global__ void decode(float* floats, unsigned short* halves, unsigned short* bfloats, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Narrow x;
  x.__x = i;
  floats[i] = x;
  const __half h = static_cast<__half_raw>(static_cast<__half>(static_cast<float>(x)));
  halves[i] = __half_as_ushort(h);
  bfloats[i] = __bfloat16_as_ushort(__hip_bfloat16(static_cast<float>(x)));
}

template <class Narrow>
__global__ void convert(unsigned char* from_half, unsigned char* from_bfloat, unsigned char* from_float) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half h = __ushort_as_half(i);
  const __hip_bfloat16 b = __ushort_as_bfloat16(i);
  from_half[i] = Narrow(h).__x;
  from_bfloat[i] = Narrow(b).__x;
  // Floats between those of 16 bits, with a last digit that decides ties.
  from_float[i] = Narrow(__uint_as_float(static_cast<unsigned>(i) << 16 | (i % 2 ? 0x8001 : 0x7fff))).__x;
}

__global__ void convert_fp8(unsigned char* from_half, unsigned char* from_bfloat, __hip_saturation_t saturation,
                            __hip_fp8_interpretation_t format) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  from_half[i] = __hip_cvt_halfraw_to_fp8(__ushort_as_half(i), saturation, format);
  from_bfloat[i] = __hip_cvt_bfloat16raw_to_fp8(__ushort_as_bfloat16(i), saturation, format);
}

// All sums of two codes, each rounded once.
template <class Narrow>
__global__ void add(unsigned char* sums, int bits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Narrow a, b;
  a.__x = i >> bits;
  b.__x = i & ((1 << bits) - 1);
  sums[i] = Narrow(static_cast<float>(a) + static_cast<float>(b)).__x;
}

__global__ void add_fp8(unsigned char* sums, __hip_saturation_t saturation, __hip_fp8_interpretation_t format) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half a = __hip_cvt_fp8_to_halfraw(i >> 8, format), b = __hip_cvt_fp8_to_halfraw(i & 0xff, format);
  sums[i] = __hip_cvt_float_to_fp8(__half2float(a) + __half2float(b), saturation, format);
}

__global__ void bfloat_tables(unsigned short* from_half, unsigned short* to_half, unsigned short* sums,
                              unsigned short* old_sums, unsigned short* pair_sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = i * 40503 % kAll;
  from_half[i] = __bfloat16_as_ushort(__float2bfloat16(__half2float(__ushort_as_half(i))));
  to_half[i] = __half_as_ushort(__float2half(__bfloat162float(__ushort_as_bfloat16(i))));
  sums[i] = __bfloat16_as_ushort(__hadd(__ushort_as_bfloat16(i), __ushort_as_bfloat16(j)));
  hip_bfloat16 a, b;
  a.data = i;
  b.data = j;
  old_sums[i] = (a + b).data;
  const __hip_bfloat162 pair = __hadd2(__halves2bfloat162(__ushort_as_bfloat16(i), __ushort_as_bfloat16(j)),
                                       __halves2bfloat162(__ushort_as_bfloat16(j), __ushort_as_bfloat16(i)));
  pair_sums[i] = __bfloat16_as_ushort(i % 2 ? __high2bfloat16(pair) : __low2bfloat16(pair));
}

// The scales of blocks: e8m0.
__global__ void scale_tables(float* floats, unsigned char* from_bfloat, unsigned char* from_float) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  floats[i] = hipshared::decode_scale(i % 256);
  from_bfloat[i] = hipshared::encode_scale(__bfloat162float(__ushort_as_bfloat16(i)));
  from_float[i] = hipshared::encode_scale(__uint_as_float(static_cast<unsigned>(i) << 16 | (i % 2 ? 0x8001 : 0x7fff)));
}

// The instructions of gfx942, which do not saturate; every number of `words` stays where it is not written.
__global__ void instructions(int* packed_fp8, int* packed_bf8, float* one, float* two, int* stochastic, int* stochastic_bf8) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = __uint_as_float(static_cast<unsigned>(i) << 16), y = __half2float(__ushort_as_half(i));
  const int low = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0x12345678, false);
  packed_fp8[i] = __builtin_amdgcn_cvt_pk_fp8_f32(y, x, low, true);
  packed_bf8[i] = __builtin_amdgcn_cvt_pk_bf8_f32(y, x, __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false), true);
  const auto pair = __builtin_amdgcn_cvt_pk_f32_bf8(packed_bf8[i], true);
  one[i] = __builtin_amdgcn_cvt_f32_fp8(packed_fp8[i], 2);
  two[i] = i % 2 ? pair[1] : pair[0];
  const int random = static_cast<int>(i * 2654435761u);
  stochastic[i] = __builtin_amdgcn_cvt_sr_fp8_f32(y, random, packed_fp8[i], 1);
  stochastic_bf8[i] = __builtin_amdgcn_cvt_sr_bf8_f32(y, random, 0, 3);
}

template <class T>
struct Table {
  T* values = nullptr;
  size_t bytes;
  std::string name;

  Table(std::string name, size_t count = kAll) : bytes(count * sizeof(T)), name(std::move(name)) {
    if (hipMalloc(&values, bytes) != hipSuccess) std::abort();
  }
  Table(const Table&) = delete;
  ~Table() {
    std::vector<char> copy(bytes);
    if (hipMemcpy(copy.data(), values, bytes, hipMemcpyDeviceToHost) != hipSuccess) std::abort();
    std::FILE* file = std::fopen((folder + "/" + name).c_str(), "wb");
    if (std::fwrite(copy.data(), 1, bytes, file) != bytes || std::fclose(file) != 0) std::abort();
    if (hipFree(values) != hipSuccess) std::abort();
  }
};

template <class Narrow>
void tables(const std::string& name, int bits) {
  const int codes = 1 << bits, sums_count = 1 << (2 * bits);
  Table<float> floats(name + ".float", codes);
  Table<unsigned short> halves(name + ".half", codes), bfloats(name + ".bfloat", codes);
  Table<unsigned char> from_half(name + ".from_half"), from_bfloat(name + ".from_bfloat"), from_float(name + ".from_float");
  Table<unsigned char> sums(name + ".sums", sums_count);
  decode<Narrow><<<(codes + 63) / 64, 64>>>(floats.values, halves.values, bfloats.values, codes);
  convert<Narrow><<<kAll / 256, 256>>>(from_half.values, from_bfloat.values, from_float.values);
  const int block = sums_count < 256 ? sums_count : 256;
  add<Narrow><<<sums_count / block, block>>>(sums.values, bits);
}

void fp8_tables(const std::string& name, __hip_fp8_interpretation_t format, __hip_saturation_t saturation) {
  Table<unsigned char> from_half(name + ".cvt_half"), from_bfloat(name + ".cvt_bfloat"), sums(name + ".cvt_sums");
  convert_fp8<<<kAll / 256, 256>>>(from_half.values, from_bfloat.values, saturation, format);
  add_fp8<<<kAll / 256, 256>>>(sums.values, saturation, format);
}

int main(int, char** argv) {
  folder = argv[1];
  tables<__hip_fp8_e4m3_fnuz>("e4m3fnuz", 8);
  tables<__hip_fp8_e5m2_fnuz>("e5m2fnuz", 8);
  tables<__hip_fp8_e4m3>("e4m3fn", 8);
  tables<__hip_fp8_e5m2>("e5m2", 8);
  tables<__hip_fp4_e2m1>("e2m1fn", 4);
  tables<__hip_fp6_e2m3>("e2m3fn", 6);
  tables<__hip_fp6_e3m2>("e3m2fn", 6);
  const char* names[] = {"e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"};
  for (int format = 0; format < 4; ++format)
    for (int saturation = 0; saturation < 2; ++saturation)
      fp8_tables(std::string(names[format]) + (saturation ? "-saturated" : "-unsaturated"),
                 static_cast<__hip_fp8_interpretation_t>(format), static_cast<__hip_saturation_t>(saturation));
  {
    Table<float> floats("e8m0fnu.float");
    Table<unsigned char> from_bfloat("e8m0fnu.from_bfloat"), from_float("e8m0fnu.from_float");
    scale_tables<<<kAll / 256, 256>>>(floats.values, from_bfloat.values, from_float.values);
  }
  {
    Table<int> fp8("packed_fp8"), bf8("packed_bf8"), sr("stochastic_fp8"), sr_bf8("stochastic_bf8");
    Table<float> one("one_fp8"), two("two_bf8");
    instructions<<<kAll / 256, 256>>>(fp8.values, bf8.values, one.values, two.values, sr.values, sr_bf8.values);
  }
  {
    Table<unsigned short> from_half("bfloat.from_half"), to_half("bfloat.to_half"), sums("bfloat.sums");
    Table<unsigned short> old_sums("hip_bfloat16.sums"), pair_sums("bfloat162.sums");
    bfloat_tables<<<kAll / 256, 256>>>(from_half.values, to_half.values, sums.values, old_sums.values, pair_sums.values);
  }
  return hipDeviceSynchronize() != hipSuccess;
}
