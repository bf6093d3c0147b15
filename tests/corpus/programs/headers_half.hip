// Half precision: every value, every rounding, and kernels that use it.
#include "check.h"
#include <hip/hip_fp16.h>

static __half half_of(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
static bool same(__half a, __half b) { return __half_as_ushort(a) == __half_as_ushort(b) || (__hisnan(a) && __hisnan(b)); }

CASE(every_value_survives_a_float) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) CHECK(same(__float2half(__half2float(half_of(bits))), half_of(bits)));
}

CASE(float_rounds_to_the_nearest_even) {
  CHECK(float(__half(2049.0f)) == 2048 && float(__half(2051.0f)) == 2052 && float(__half(65519.0f)) == 65504);
  CHECK(__hisinf(__half(65520.0f)) == 1 && float(__half(1e-8f)) == 0 && float(__half(-3e-8)) == -0x1p-24f);
}

CASE(named_roundings_hold_their_side) {
  for (float x : {0.1f, -0.1f, 1.0001f, -1.0001f, 70000.0f, -70000.0f, 1e-9f, -1e-9f, 3.0f}) {
    const float down = float(__float2half_rd(x)), up = float(__float2half_ru(x)), zero = float(__float2half_rz(x));
    CHECK(down <= x && x <= up && std::fabs(zero) <= std::fabs(x) && (zero == down || zero == up));
  }
  CHECK(float(__float2half_rz(1e6f)) == 65504 && __hisinf(__float2half_ru(1e6f)));
}

#ifdef __SIZEOF_FLOAT128__
using Wide = __float128;
#else
using Wide = long double;
#endif

// The expected result of one operation: computed with 113 digits, rounded once.
static __half once(Wide exact) {
  __half h;
  h.native = static_cast<hiptarget::Half>(exact);
  return h;
}

CASE(operations_round_once) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const __half a = half_of(random() & 0xffff), b = half_of(random() & 0xffff), c = half_of(random() & 0xffff);
    const Wide x = float(a), y = float(b), z = float(c);
    CHECK(same(__hadd(a, b), once(x + y)));
    CHECK(same(a - b, once(x - y)));
    CHECK(same(__hmul(a, b), once(x * y)));
    CHECK(same(a / b, once(x / y)));
    CHECK(same(__hfma(a, b, c), once(x * y + z)));
  }
}

CASE(comparisons_know_nan) {
  const __half one = 1.0f, two = 2, nan = HIPRT_NAN_FP16;
  CHECK(__hlt(one, two) && __hge(two, one) && one != two && one < two && !__heq(nan, nan) && !__hne(nan, one));
  CHECK(__hneu(nan, one) && __hltu(nan, one) && float(__hmax(nan, one)) == 1 && __hisnan(__hmax_nan(nan, one)));
  CHECK(float(__hmin(one, two)) == 1 && float(__habs(__hneg(two))) == 2);
}

CASE(functions) {
  const __half x = 0.5f;
  CHECK(float(hsqrt(__half(9))) == 3 && float(hrcp(__half(4))) == 0.25f && float(hrsqrt(__half(16))) == 0.25f);
  CHECK(same(hexp(x), __half(std::exp(0.5))) && same(hlog(x), __half(std::log(0.5))) && same(hsin(x), __half(std::sin(0.5))));
  CHECK(float(hfloor(__half(-1.5f))) == -2 && float(hrint(__half(2.5f))) == 2 && float(hexp2(__half(3))) == 8);
  CHECK(float(__hadd_sat(__half(0.75f), __half(0.75f))) == 1);
}

CASE(integers) {
  CHECK(__half2int_rn(__half(2.5f)) == 2 && __half2int_rz(__half(-2.7f)) == -2 && __half2uint_ru(__half(2.1f)) == 3);
  CHECK(__half2short_rz(HIPRT_INF_FP16) == 32767 && float(__int2half_rn(2049)) == 2048 && float(__int2half_ru(2049)) == 2050);
  CHECK((int)__half(7.9f) == 7 && float(__half(3ll)) == 3);
}

CASE(pairs) {
  const __half2 a = __floats2half2_rn(1, 2), b = __half2half2(__half(3));
  const float2 sum = __half22float2(__hfma2(a, b, a));
  CHECK(sum.x == 4 && sum.y == 8 && float(__low2half(a)) == 1 && __high2float(a * b) == 6);
  CHECK(__hbeq2(a, a) && !__hblt2(b, a) && __low2float(__hlt2(a, b)) == 1 && __high2float(__hgt2(a, b)) == 0);
  CHECK(__low2float(__lowhigh2highlow(a)) == 2 && __high2float(__highs2half2(a, b)) == 3);
  CHECK(__low2float(h2sqrt(__floats2half2_rn(4, 9))) == 2 && float(__hmax(a.y, b.y)) == 3);
  CHECK(sizeof(__half2) == 4 && alignof(__half2) == 4 && sizeof(__half) == 2);
}

__global__ void axpy(const __half2* x, __half2* y, __half a, int n2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n2) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

template <class T>
__global__ void sum(const T* x, float* out, int n) {
  __shared__ T tile[256];
  float total = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    tile[threadIdx.x] = x[i];
    total += static_cast<float>(tile[threadIdx.x]);
  }
  for (int offset = warpSize / 2; offset > 0; offset /= 2) total += __shfl_down(total, offset);
  if (threadIdx.x % warpSize == 0) atomicAdd(out, total);
}

__global__ void exchange(__half* h) { h[threadIdx.x] = __shfl_xor(h[threadIdx.x], 1); }

CASE(kernels) {
  std::vector<__half> x(512), y(512);
  for (int i = 0; i < 512; ++i) x[i] = i % 7, y[i] = 1;
  __half* dx = upload(x);
  __half* dy = upload(y);
  axpy<<<1, 256>>>(reinterpret_cast<__half2*>(dx), (__half2*)dy, __half(2), 256);
  CHECK(float(download(dy, 512)[6]) == 13);
  float* total = zeros<float>(1);
  sum<__half><<<1, 256>>>(dx, total, 512);
  CHECK(download(total, 1)[0] == 1533);
  exchange<<<1, 64>>>(dx);
  CHECK(float(download(dx, 64)[4]) == 5);
}
