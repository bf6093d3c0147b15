// HIP's short vectors: char1 … double4, make_*, and componentwise arithmetic.
#pragma once

#include <cstddef>
#include <type_traits>

#include <hiptarget/core.h>

HIPTARGET_HOST_DEVICE_BEGIN

template <class T, unsigned N>
struct HIP_vector_type;

namespace hipshared {

// Vectors of three are packed. No vector is aligned to more than 16 bytes, as on the GPU.
template <class T, unsigned N>
inline constexpr std::size_t vector_alignment =
    N == 3 ? alignof(T) : (sizeof(T) * N < 16 ? sizeof(T) * N : 16);

#ifndef HIPTARGET_ALIGNED
#define HIPTARGET_ALIGNED(bytes) alignas(bytes)
#define HIPTARGET_ALIGNING(bytes)
#endif

template <class T, unsigned N>
struct Components;
template <class T>
struct Components<T, 1> {
  T x;
};
template <class T>
struct HIPTARGET_ALIGNED((vector_alignment<T, 2>)) Components<T, 2> {
  T x, y;
  HIPTARGET_ALIGNING((vector_alignment<T, 2>))
};
template <class T>
struct Components<T, 3> {
  T x, y, z;
};
template <class T>
struct HIPTARGET_ALIGNED((vector_alignment<T, 4>)) Components<T, 4> {
  T x, y, z, w;
  HIPTARGET_ALIGNING((vector_alignment<T, 4>))
};

template <class T, unsigned N, class F>
constexpr HIP_vector_type<T, N> map(const HIP_vector_type<T, N>& a, F f) {
  if constexpr (N == 1) return {f(a.x)};
  if constexpr (N == 2) return {f(a.x), f(a.y)};
  if constexpr (N == 3) return {f(a.x), f(a.y), f(a.z)};
  if constexpr (N == 4) return {f(a.x), f(a.y), f(a.z), f(a.w)};
}

template <class T, unsigned N, class F>
constexpr HIP_vector_type<T, N> zip(const HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b, F f) {
  if constexpr (N == 1) return {f(a.x, b.x)};
  if constexpr (N == 2) return {f(a.x, b.x), f(a.y, b.y)};
  if constexpr (N == 3) return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)};
  if constexpr (N == 4) return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)};
}

}  // namespace hipshared

template <class T, unsigned N>
struct HIP_vector_type : hipshared::Components<T, N> {
  using value_type = T;

  HIP_vector_type() = default;  // trivial, so that shared memory can hold it

  template <class... U>
    requires(sizeof...(U) == N && (std::is_convertible_v<U, T> && ...))
  constexpr HIP_vector_type(U... values) : hipshared::Components<T, N>{static_cast<T>(values)...} {}

  // One value for all components.
  template <class U>
    requires(N > 1 && std::is_convertible_v<U, T>)
  explicit constexpr HIP_vector_type(U value) {
    const T all = static_cast<T>(value);
    this->x = this->y = all;
    if constexpr (N > 2) this->z = all;
    if constexpr (N > 3) this->w = all;
  }

  T& operator[](std::size_t i) HIPTARGET_NEEDS_ROCM_7 { return (&this->x)[i]; }
  const T& operator[](std::size_t i) const HIPTARGET_NEEDS_ROCM_7 { return (&this->x)[i]; }
};

// Operators are function templates, so that an author's own `operator+(float4, float4)` is preferred.

#define HIPSHARED_ARITHMETIC(op) \
  template <class T, unsigned N> \
  constexpr HIP_vector_type<T, N> operator op(const HIP_vector_type<T, N>& a, \
                                              const HIP_vector_type<T, N>& b) { \
    return hipshared::zip(a, b, [](T p, T q) { return static_cast<T>(p op q); }); \
  } \
  template <class T, unsigned N, class S> \
    requires std::is_convertible_v<S, T> \
  constexpr HIP_vector_type<T, N> operator op(const HIP_vector_type<T, N>& a, S s) { \
    return hipshared::map(a, [q = static_cast<T>(s)](T p) { return static_cast<T>(p op q); }); \
  } \
  template <class T, unsigned N, class S> \
    requires std::is_convertible_v<S, T> \
  constexpr HIP_vector_type<T, N> operator op(S s, const HIP_vector_type<T, N>& a) { \
    return hipshared::map(a, [p = static_cast<T>(s)](T q) { return static_cast<T>(p op q); }); \
  } \
  template <class T, unsigned N> \
  constexpr HIP_vector_type<T, N>& operator op##=(HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) { \
    return a = a op b; \
  }
HIPSHARED_ARITHMETIC(+)
HIPSHARED_ARITHMETIC(-)
HIPSHARED_ARITHMETIC(*)
HIPSHARED_ARITHMETIC(/)
HIPSHARED_ARITHMETIC(%)
HIPSHARED_ARITHMETIC(&)
HIPSHARED_ARITHMETIC(|)
HIPSHARED_ARITHMETIC(^)
HIPSHARED_ARITHMETIC(<<)
HIPSHARED_ARITHMETIC(>>)
#undef HIPSHARED_ARITHMETIC

// Only these take a number on the right.
#define HIPSHARED_ASSIGN_NUMBER(op) \
  template <class T, unsigned N, class S> \
    requires std::is_convertible_v<S, T> \
  constexpr HIP_vector_type<T, N>& operator op##=(HIP_vector_type<T, N>& a, S s) { \
    return a = a op s; \
  }
HIPSHARED_ASSIGN_NUMBER(+)
HIPSHARED_ASSIGN_NUMBER(-)
HIPSHARED_ASSIGN_NUMBER(*)
HIPSHARED_ASSIGN_NUMBER(/)
#undef HIPSHARED_ASSIGN_NUMBER

template <class T, unsigned N>
constexpr HIP_vector_type<T, N> operator-(const HIP_vector_type<T, N>& a) {
  return hipshared::map(a, [](T p) { return static_cast<T>(-p); });
}
template <class T, unsigned N>
  requires std::is_integral_v<T>
constexpr HIP_vector_type<T, N> operator~(const HIP_vector_type<T, N>& a) {
  return hipshared::map(a, [](T p) { return static_cast<T>(~p); });
}
template <class T, unsigned N>
constexpr HIP_vector_type<T, N>& operator++(HIP_vector_type<T, N>& a) {
  return a += T(1);
}
template <class T, unsigned N>
constexpr HIP_vector_type<T, N>& operator--(HIP_vector_type<T, N>& a) {
  return a -= T(1);
}
template <class T, unsigned N>
constexpr HIP_vector_type<T, N> operator++(HIP_vector_type<T, N>& a, int) {
  const auto before = a;
  ++a;
  return before;
}
template <class T, unsigned N>
constexpr HIP_vector_type<T, N> operator--(HIP_vector_type<T, N>& a, int) {
  const auto before = a;
  --a;
  return before;
}

// Vectors are equal if all components are; C++20 derives `!=` from it.
template <class T, unsigned N>
constexpr bool operator==(const HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) {
  bool equal = a.x == b.x;
  if constexpr (N > 1) equal = equal && a.y == b.y;
  if constexpr (N > 2) equal = equal && a.z == b.z;
  if constexpr (N > 3) equal = equal && a.w == b.w;
  return equal;
}
template <class T, unsigned N, class S>
  requires std::is_convertible_v<S, T>
constexpr bool operator==(const HIP_vector_type<T, N>& a, S s) {
  if constexpr (N == 1) return a.x == static_cast<T>(s);
  else return a == HIP_vector_type<T, N>(s);
}

using uchar = unsigned char;

// The assertions instantiate what inline functions call once, in the precompiled header; otherwise it would be
// instantiated at the end of every file that includes this.
#define HIPSHARED_VECTORS(T, name) \
  using name##1 = HIP_vector_type<T, 1>; \
  using name##2 = HIP_vector_type<T, 2>; \
  using name##3 = HIP_vector_type<T, 3>; \
  using name##4 = HIP_vector_type<T, 4>; \
  inline name##1 make_##name##1(T x) { return {x}; } \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; } \
  static_assert(name##1(1).x == 1 && name##2(1, 2).y == 2 && name##3(1, 2, 3).z == 3 && name##4(1, 2, 3, 4).w == 4);
HIPSHARED_VECTORS(char, char)
HIPSHARED_VECTORS(unsigned char, uchar)
HIPSHARED_VECTORS(short, short)
HIPSHARED_VECTORS(unsigned short, ushort)
HIPSHARED_VECTORS(int, int)
HIPSHARED_VECTORS(unsigned int, uint)
HIPSHARED_VECTORS(long, long)
HIPSHARED_VECTORS(unsigned long, ulong)
HIPSHARED_VECTORS(long long, longlong)
HIPSHARED_VECTORS(unsigned long long, ulonglong)
HIPSHARED_VECTORS(float, float)
HIPSHARED_VECTORS(double, double)
#undef HIPSHARED_VECTORS

HIPTARGET_HOST_DEVICE_END
