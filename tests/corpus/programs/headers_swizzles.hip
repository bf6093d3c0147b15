// Vectors of the compiler: swizzles, and masks that select elements.
#include "check.h"

typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f3 __attribute__((ext_vector_type(3)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
using h4 = _Float16 __attribute__((ext_vector_type(4)));

__host__ __device__ bool equal(f4 v, float a, float b, float c, float d) {
  return v.x == a && v.y == b && v.z == c && v.w == d;
}

CASE(elements_in_another_order) {
  const f4 v = {1, 2, 3, 4};
  CHECK(equal(v.wzyx, 4, 3, 2, 1) && equal(v.xxyy, 1, 1, 2, 2) && equal(v.abgr, 4, 3, 2, 1));
  CHECK(equal(v.s3210, 4, 3, 2, 1) && equal(v.wzyx.wzyx, 1, 2, 3, 4));
  const f2 pair = v.zx;
  CHECK(pair.x == 3 && pair.y == 1 && v.yzw.z == 4 && v.zx.y == 1);
  const f3 three = v.yzw + v.xyz;
  CHECK(three.x == 3 && three.y == 5 && three.z == 7);
  CHECK(equal(pair.xyxy, 3, 1, 3, 1) && pair.yx.x == 1);
  const f4* pointer = &v;
  CHECK(equal(pointer->yxwz, 2, 1, 4, 3));
}

CASE(every_second_element) {
  const f8 v = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(equal(v.even, 0, 2, 4, 6) && equal(v.odd, 1, 3, 5, 7) && equal(v.s0246, 0, 2, 4, 6));
  CHECK(v.odd.even.y == 5 && v.lo.odd.x == 1 && v.lo.lo.odd == 1);
}

CASE(an_assignment_changes_the_named_elements) {
  f4 v = {1, 2, 3, 4};
  v.wx = v.xw;
  CHECK(equal(v, 4, 2, 3, 1));
  v.zyx = (f3){7, 8, 9};
  CHECK(equal(v, 9, 8, 7, 1));
  v.yw += (f2){10, 20};
  v.xz *= 2.0f;
  CHECK(equal(v, 18, 18, 14, 21));
  v.xy.x = 1;
  v.zw[1] += 1;
  CHECK(equal(v, 1, 18, 14, 22));
  v = (f4){18, 18, 14, 21};
  f4 several[2] = {v, v};
  several[1].xyzw = several[0].wzyx;
  CHECK(equal(several[1], 21, 14, 18, 18));
}

CASE(a_mask_selects_elements) {
  const f4 a = {1, -2, 3, -4}, b = {10, 20, 30, 40};
  const i4 positive = a > 0.0f;
  CHECK(equal(positive ? a : b, 1, 20, 3, 40));
  CHECK(equal((a < b.wzyx / 20.0f) ? a : -a, 1, -2, -3, -4));
  CHECK(equal(a > 0.0f ? a : 0.5f, 1, 0.5f, 3, 0.5f));
  const f4 nested = a == 1.0f ? b : a == 3.0f ? b * 2.0f : (f4)(0.0f);
  CHECK(equal(nested, 10, 0, 60, 0));
  const auto mask = a != 3.0f;
  const i4 numbers = mask ? (i4)(7) : (i4)(-7);
  CHECK(numbers.x == 7 && numbers.z == -7);
}

CASE(a_number_still_chooses_one_operand) {
  f4 v = {1, 2, 3, 4};
  int calls = 0;
  const auto count = [&] { return ++calls; };
  CHECK((v.x > 0 ? count() : -1) == 1 && (v[1] < 0 ? count() : -1) == -1 && calls == 1);
  float* none = nullptr;
  CHECK((none ? none[0] : v.y) == 2);
}

struct Colors {
  int rgb;  // an author's member with the name of a swizzle
};

CASE(an_author_may_name_members_like_swizzles) {
  Colors colors{5};
  colors.rgb += 1;
  CHECK(colors.rgb == 6);
}

#define REVERSE(v) ((v).wzyx)

template <class V>
__device__ V turned(V v) {
  return v.yzwx;
}

__global__ void turn(const f4* x, f4* y, int count) {
  __shared__ f4 tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < count ? x[i] : (f4)(0.0f);
  __syncthreads();
  f4 v = turned(tile[threadIdx.x]);
  v.xw = v.wx;
  const f4 reversed = REVERSE(v);
  if (i < count) y[i] = reversed > 0.5f ? REVERSE(v) : v.xxxx;
}

CASE(a_kernel_with_swizzles) {
  const std::vector<float> x = noise(1024);
  float* y = zeros<float>(1024);
  turn<<<4, 64>>>(reinterpret_cast<const f4*>(upload(x)), reinterpret_cast<f4*>(y), 256);
  const std::vector<float> got = download(y, 1024);
  bool right = true;
  for (int i = 0; i < 1024; i += 4) {
    const float v[4] = {x[i], x[i + 2], x[i + 3], x[i + 1]};
    for (int j = 0; j < 4; ++j) right &= got[i + j] == (v[3 - j] > 0.5f ? v[3 - j] : v[0]);
  }
  CHECK(right);
}

CASE(halves_of_numbers) {
  const h4 v = {1, 2, 3, 4};
  const h4 w = v.wwzz;
  CHECK(float(w.x) == 4 && float(w.w) == 3);
}
