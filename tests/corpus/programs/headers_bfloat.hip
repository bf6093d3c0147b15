// bfloat16: the upper half of a float, rounded once.
#include "check.h"
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>

static __hip_bfloat16 bfloat_of(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
static unsigned bits_of(__hip_bfloat16 b) { return __bfloat16_as_ushort(b); }

CASE(every_value_survives_a_float) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const __hip_bfloat16 b = bfloat_of(bits), again = __float2bfloat16(__bfloat162float(b));
    CHECK(bits_of(again) == bits || (__hisnan(b) && __hisnan(again)));
  }
}

CASE(float_rounds_to_the_nearest_even) {
  CHECK(bits_of(1.00390625f) == 0x3f80 && bits_of(1.01171875f) == 0x3f82 && bits_of(1.0039065f) == 0x3f81);
  CHECK(bits_of(3.4e38f) == 0x7f80 && __hisnan(__hip_bfloat16(NAN)));
  // Just above the midpoint, by less than a float can represent.
  CHECK(bits_of(__double2bfloat16(1.00390625 + 1e-12)) == 0x3f81);
}

CASE(operations_round_once) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    // Exponents near 1, so that every product and sum is exact in long double.
    const __hip_bfloat16 a = bfloat_of(0x3c00 + random() % 0x800), b = bfloat_of(0xbc00 + random() % 0x800);
    const __hip_bfloat16 c = bfloat_of(0x3c00 + random() % 0x800);
    const double x = float(a), y = float(b), z = float(c);
    CHECK(bits_of(a + b) == bits_of(__hip_bfloat16(x + y)));
    CHECK(bits_of(a * b) == bits_of(__hip_bfloat16(x * y)));
    CHECK(bits_of(__hfma(a, b, c)) == bits_of(__hip_bfloat16(x * y + z)));
  }
}

CASE(pairs_and_comparisons) {
  const __hip_bfloat162 a = __float22bfloat162_rn(make_float2(1, 2)), b = __bfloat162bfloat162(__hip_bfloat16(3));
  const float2 sum = __bfloat1622float2(__hfma2(a, b, a));
  CHECK(sum.x == 4 && sum.y == 8 && float(__high2bfloat16(a)) == 2 && __low2float(a + b) == 4);
  CHECK(__hblt2(a, b) && __hgt(b.x, a.x) && a.x < b.x && float(__hmax(a.x, b.x)) == 3);
  CHECK(float(hsqrt(__hip_bfloat16(9))) == 3 && float(-a.x) == -1);
  hip_bfloat16 old_name(5.0f);
  old_name += hip_bfloat16(2.0f);
  CHECK(float(old_name) == 7);
}

__global__ void scale(const __hip_bfloat16* x, __hip_bfloat16* y, float by, int n) {
  __shared__ __hip_bfloat16 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : __float2bfloat16(0.0f);
  __syncthreads();
  if (i < n) y[i] = __float2bfloat16(__bfloat162float(tile[threadIdx.x]) * by);
}

CASE(kernels) {
  std::vector<__hip_bfloat16> x(300);
  for (int i = 0; i < 300; ++i) x[i] = i % 16;
  __hip_bfloat16* y = zeros<__hip_bfloat16>(300);
  scale<<<3, 128>>>(upload(x), y, 0.5f, 300);
  CHECK(float(download(y, 300)[15]) == 7.5f);
}
