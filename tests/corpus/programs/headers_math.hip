// Mathematical functions: known values, in kernels and on the host.
#include "check.h"
#include <hip/hip_complex.h>
#include <hip/hip_math_constants.h>

static bool close(double got, double want, double tolerance = 1e-6) {
  return std::fabs(got - want) <= tolerance * (1 + std::fabs(want));
}

__global__ void functions(float x, float* out) {
  int i = 0;
  out[i++] = __expf(x);
  out[i++] = __logf(x);
  out[i++] = __log2f(x);
  out[i++] = __log10f(x);
  out[i++] = __powf(x, 2.0f);
  out[i++] = __sinf(x);
  out[i++] = __cosf(x);
  out[i++] = __tanf(x);
  out[i++] = __fdividef(x, 4.0f);
  out[i++] = rsqrtf(x);
  out[i++] = rcbrtf(x);
  out[i++] = exp10f(x);
  out[i++] = erff(x);
  out[i++] = normcdff(x);
  out[i++] = __frcp_rn(x);
  out[i++] = __fsqrt_rn(x);
  out[i++] = __fmaf_rn(x, x, x);
  out[i++] = exp(x);
  out[i++] = max(x, 1);
  out[i++] = abs(-x);
}

CASE(functions_in_a_kernel) {
  const double x = 0.75;
  const double want[] = {std::exp(x), std::log(x), std::log2(x), std::log10(x), x * x, std::sin(x), std::cos(x),
                         std::tan(x), x / 4, 1 / std::sqrt(x), 1 / std::cbrt(x), std::pow(10, x), std::erf(x),
                         0.5 * std::erfc(-x / std::sqrt(2.0)), 1 / x, std::sqrt(x), x * x + x, std::exp(x), 1, x};
  const int count = sizeof want / sizeof *want;
  float* out = zeros<float>(count);
  functions<<<1, 1>>>(0.75f, out);
  const std::vector<float> got = download(out, count);
  for (int i = 0; i < count; ++i) CHECK(close(got[i], want[i]));
}

CASE(inverses_undo_what_they_invert) {
  for (double y : {1e-12, 0.1, 0.5, 0.9, 0.999999, -0.3}) CHECK(close(erf(erfinv(y)), y, 1e-14));
  for (double y : {1e-200, 1e-10, 0.3, 1.0, 1.9}) CHECK(std::fabs(erfc(erfcinv(y)) / y - 1) < 1e-13);
  for (double p : {1e-9, 0.025, 0.5, 0.99}) CHECK(close(normcdf(normcdfinv(p)), p, 1e-13));
  CHECK(erfinv(1.0) == HIP_INF && erfcinv(0.0) == HIP_INF && isnan(erfinv(2.0)));
  CHECK(erfinvf(0.5f) == (float)erfinv(0.5));
  CHECK(close(erfcx(30.0), 0.018795888861416751, 1e-9) && close(erfcx(2.0), std::exp(4.0) * std::erfc(2.0)));
}

CASE(sines_of_multiples_of_pi_are_exact) {
  CHECK(sinpi(3.0) == 0 && sinpif(0.5f) == 1 && cospi(1.0) == -1 && cospi(0.5) == 0 && cospif(1e9f) == 1);
  float s, c;
  sincospif(0.25f, &s, &c);
  CHECK(close(s, c) && close(s, std::sqrt(0.5)));
  sincosf(1.0f, &s, &c);
  CHECK(close(s * s + c * c, 1));
}

__global__ void separate(float x, float square, double y, float* out) {
  out[0] = __fsub_rn(__fmul_rn(x, x), square);
  out[1] = __fadd_rn(x * x, -square);
  out[2] = static_cast<float>(__dsub_rn(__dmul_rn(y, y), 1 + 0x1p-29));
  out[3] = __fmaf_rn(x, x, -square);
}

CASE(a_named_rounding_is_not_joined_with_the_next) {
  float* out = zeros<float>(4);
  separate<<<1, 1>>>(1 + 0x1p-12f, 1 + 0x1p-11f, 1 + 0x1p-30, out);
  CHECK((download(out, 4) == std::vector<float>{0, 0, 0, 0x1p-24f}));
}

CASE(bessel_functions) {
  CHECK(close(cyl_bessel_i0(1.0), 1.2660658777520084) && close(cyl_bessel_i1f(-1.0f), -0.5651591039924850));
  CHECK(close(j0f(1.0f), 0.7651976865579666) && close(y1(2.0), -0.1070324315409375));
}

CASE(norms) {
  CHECK(norm3df(2, 3, 6) == 7 && norm4d(1, 2, 2, 4) == 5 && close(rhypotf(3, 4), 0.2) && close(rnorm3d(2, 3, 6), 1 / 7.0));
}

CASE(minimum_and_maximum_take_mixed_types) {
  CHECK(max(3, 5u) == 5u && min(-1, 1L) == -1 && max(2.5f, 2) == 2.5f && min(1ull, 7) == 1);
  CHECK((std::is_same_v<decltype(max(1.0f, 1.0f)), float>)&&(std::is_same_v<decltype(max(1, 1.0)), double>));
  CHECK(fmaxf(NAN, 2.0f) == 2 && fmaxf(2.0f, NAN) == 2 && fminf(NAN, 2.0f) == 2 && max(NAN, 1.0f) == 1);
  CHECK(isnan(fmaxf(NAN, NAN)) && isinf(INFINITY) && !isnan(1.0f) && isfinite(0.0));
}

namespace with_std {
using namespace std;
static float both(float a, float b) { return max(a, b) - min(a, b); }
}  // namespace with_std

CASE(minimum_and_maximum_live_with_those_of_std) {
  CHECK(with_std::both(1, 3) == 2);
  CHECK(std::max(1, 2) == 2);
}

CASE(bits_are_counted_and_moved) {
  CHECK(__popc(0xff) == 8 && __popcll(~0ull) == 64 && __clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63);
  CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __ffs(-1) == 1 && __ffsll(1ull << 40) == 41 && __ffs(1u << 31) == 32);
  CHECK(__brev(1) == 0x80000000u && __brevll(1) == 1ull << 63);
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
  CHECK(__byte_perm(0x000000ff, 0, 0x8888) == 0xffffffffu);
  CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u);
  CHECK(__funnelshift_lc(5, 9, 40) == 5 && __funnelshift_rc(5, 9, 40) == 9);
  CHECK(__bitextract_u32(0xabcd, 4, 8) == 0xbc && __bitinsert_u32(0, 0xff, 8, 4) == 0xf00);
}

CASE(products_and_averages_of_integers) {
  CHECK(__mul24(-3, 5) == -15 && __mul24(0x1000001, 2) == 2 && __umul24(0xff000003u, 2) == 6);
  CHECK(__mulhi(1 << 30, 8) == 2 && __umulhi(~0u, 2) == 1 && __mul64hi(1ll << 62, 8) == 2);
  CHECK(__umul64hi(~0ull, 2) == 1);
  CHECK(__hadd(INT_MAX, INT_MAX - 2) == INT_MAX - 1 && __rhadd(2, 3) == 3 && __uhadd(~0u, ~0u) == ~0u);
  CHECK(__sad(-3, 4, 1u) == 8 && __usad(9, 4, 1) == 6);
}

CASE(conversions_round_as_named) {
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3);
  CHECK(__float2int_rd(-2.1f) == -3 && __double2int_rn(3.5) == 4 && __float2uint_rn(-5.0f) == 0);
  CHECK(__float2int_rz(1e20f) == INT_MAX && __float2int_rz(-1e20f) == INT_MIN && __float2int_rz(NAN) == 0);
  CHECK(__float2ll_rz(1e30f) == LLONG_MAX && __double2ull_rz(1e30) == ULLONG_MAX);
  CHECK(__int2float_rn(16777217) == 16777216 && __int2float_ru(16777217) == 16777218);
  CHECK(__int2float_rz(-16777217) == -16777216 && __int2float_rd(-16777217) == -16777218);
  CHECK(__double2float_rd(0.1) < 0.1 && __double2float_ru(0.1) > 0.1 && __double2float_rn(0.1) == 0.1f);
  CHECK(__ll2double_ru((1ll << 53) + 1) == 9007199254740994.0 && __uint2double_rn(~0u) == 4294967295.0);
}

CASE(bits_of_one_type_are_taken_for_another) {
  CHECK(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2 && __uint_as_float(0x7f800000u) == INFINITY);
  CHECK(__double_as_longlong(1.0) == 0x3ff0000000000000ll && __longlong_as_double(0x4000000000000000ll) == 2);
  CHECK(__hiloint2double(0x3ff00000, 0) == 1 && __double2hiint(1.0) == 0x3ff00000 && __double2loint(1.0) == 0);
}

CASE(loads_and_clocks) {
  const float4 v{1, 2, 3, 4};
  float out = 0;
  __builtin_nontemporal_store(__ldg(&v).z, &out);
  CHECK(out == 3 && __builtin_nontemporal_load(&v.y) == 2);
  const long long before = wall_clock64();
  CHECK(clock64() != 0 && wall_clock64() >= before);
}

CASE(complex_numbers) {
  const hipFloatComplex a = make_hipFloatComplex(1, 2), b = make_hipFloatComplex(3, -1);
  CHECK(hipCmulf(a, b) == make_hipFloatComplex(5, 5) && hipCabsf(make_hipFloatComplex(3, 4)) == 5);
  CHECK(hipCdiv(make_hipDoubleComplex(5, 5), make_hipDoubleComplex(3, -1)) == make_hipDoubleComplex(1, 2));
  CHECK(hipCimagf(hipConjf(a)) == -2);
}

CASE(constants) {
  CHECK(HIP_PI_F == (float)HIP_PI && HIP_INF_F == INFINITY && isnan(HIP_NAN_F) && HIP_MAX_NORMAL_F == FLT_MAX);
  CHECK(std::signbit(HIP_NEG_ZERO) && HIP_MIN_DENORM > 0 && HIP_SQRT_TWO_F == std::sqrt(2.0f));
}
