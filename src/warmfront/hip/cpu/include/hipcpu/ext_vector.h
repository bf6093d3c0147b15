// Vectors of the compiler, `T __attribute__((ext_vector_type(N)))`, which the rewriter spells hipcpu::ext_vector<T, N>.
//
// Clang has them. g++ does not, so here they are a class with the same size, alignment and operations: arithmetic with
// vectors and numbers, comparisons that result in masks, elements by index and by name, halves (lo, hi, xy, zw) and
// conversions. The rewriter spells swizzles and `mask ? a : b` as macros. A missing feature is a compile error, never
// a different result. `__attribute__((vector_size(B)))`, which the rewriter spells hipcpu::sized_vector<T, B>,
// is the same class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <hipcpu/checked.h>

#ifdef __clang__

namespace hipcpu {

template <class T, int N>
using ext_vector = T __attribute__((ext_vector_type(N)));
template <class T, size_t Bytes>
using sized_vector = T __attribute__((vector_size(Bytes)));

// The operand of a builtin: a vector without names of elements, to which clang converts any vector of the same size.
template <class V>
struct OperandType {
  using Type = V;
};
template <class T, int N>
struct OperandType<T __attribute__((ext_vector_type(N)))> {
  using Type = sized_vector<T, N * sizeof(T)>;
};
template <class V>
using Operand = typename OperandType<V>::Type;

}  // namespace hipcpu

#define HIPCPU_SWIZZLE(name, ...) name
#define HIPCPU_SWIZZLE_ASSIGNED(name, ...) name
#define HIPCPU_SELECT(mask, a, b) (mask ? a : b)

#else

#define HIPCPU_SWIZZLE(name, ...) hipcpu_elements(__VA_ARGS__{})
#define HIPCPU_SWIZZLE_ASSIGNED(name, ...) hipcpu_places(__VA_ARGS__{})
// If the condition is a number, only one operand is evaluated.
#define HIPCPU_SELECT(mask, a, b) \
  ::hipcpu::select(mask, [&]() -> decltype(auto) { return a; }, [&]() -> decltype(auto) { return b; })

namespace hipcpu {

// The elements of a swizzle: `v.wzyx` is Order<3, 2, 1, 0>, and `v.odd` is EverySecond<1>.
template <int... Index>
struct Order {};
template <int First>
struct EverySecond {};

template <class T>
inline constexpr bool is_scalar =
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, _Float16>) && !std::is_same_v<T, long double>;

template <class T, int N>
struct ext_vector;

template <class T, int N, int... Index>
struct VectorPlaces;

// The type to which a class such as __half converts if a number is expected.
template <class S, class T>
concept ConvertsTo = is_scalar<std::remove_cvref_t<S>> ||
                     (std::is_class_v<std::remove_cvref_t<S>> && std::is_convertible_v<S, T>);

// The elements and their names.
template <class T, int N>
struct VectorElements {
  T e[N];
};
template <class T>
struct VectorElements<T, 2> {
  union {
    T e[2];
    struct { T x, y; };
    struct { T r, g; };
    struct { T s0, s1; };
    struct { T lo, hi; };
  };
};
template <class T>
struct VectorElements<T, 3> {
  union {
    T e[3];
    struct { T x, y, z; };
    struct { T r, g, b; };
    struct { T s0, s1, s2; };
    ext_vector<T, 2> xy;
  };
};
template <class T>
struct VectorElements<T, 4> {
  union {
    T e[4];
    struct { T x, y, z, w; };
    struct { T r, g, b, a; };
    struct { T s0, s1, s2, s3; };
    struct { ext_vector<T, 2> lo, hi; };
    struct { ext_vector<T, 2> xy, zw; };
    struct { ext_vector<T, 2> s01, s23; };
  };
};
template <class T>
struct VectorElements<T, 8> {
  union {
    T e[8];
    struct { T x, y, z, w; };
    struct { T s0, s1, s2, s3, s4, s5, s6, s7; };
    struct { ext_vector<T, 4> lo, hi; };
    struct { ext_vector<T, 4> s0123, s4567; };
    struct { ext_vector<T, 2> s01, s23, s45, s67; };
  };
};
template <class T>
struct VectorElements<T, 16> {
  union {
    T e[16];
    struct { T x, y, z, w; };
    struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
    struct { ext_vector<T, 8> lo, hi; };
    struct { ext_vector<T, 8> s01234567, s89abcdef; };
  };
};

// The element of a mask, the result of a comparison: an integer of the same size.
template <size_t Bytes>
using MaskElement =
    std::conditional_t<Bytes == 1, int8_t,
                       std::conditional_t<Bytes == 2, int16_t, std::conditional_t<Bytes == 4, int32_t, int64_t>>>;

constexpr size_t vector_alignment(size_t bytes) {
  size_t power = 1;
  while (power < bytes) power *= 2;
  return power;
}

#define HIPCPU_VECTOR_BINARY(op)                                                              \
  friend HIPCPU_UNCHECKED inline ext_vector operator op(const ext_vector& a, const ext_vector& b) { \
    ext_vector r;                                                                             \
    for (int i = 0; i < N; ++i) r.e[i] = static_cast<T>(a.e[i] op b.e[i]);                    \
    return r;                                                                                 \
  }                                                                                           \
  friend inline ext_vector& operator op##=(ext_vector& a, const ext_vector& b) { return a = a op b; }
#define HIPCPU_VECTOR_COMPARE(op)                                                             \
  friend HIPCPU_UNCHECKED inline Mask operator op(const ext_vector& a, const ext_vector& b) { \
    Mask r;                                                                                   \
    for (int i = 0; i < N; ++i) r.e[i] = (a.e[i] op b.e[i]) ? -1 : 0;                         \
    return r;                                                                                 \
  }
#define HIPCPU_VECTOR_UNARY(op)                                                \
  friend HIPCPU_UNCHECKED inline ext_vector operator op(const ext_vector& a) { \
    ext_vector r;                                                              \
    for (int i = 0; i < N; ++i) r.e[i] = static_cast<T>(op a.e[i]);            \
    return r;                                                                  \
  }

template <class T, int N>
struct alignas(vector_alignment(sizeof(T) * N)) ext_vector : VectorElements<T, N> {
  static_assert(N > 0, "a vector has at least one element");
  static_assert(is_scalar<T> && !std::is_same_v<std::remove_cv_t<T>, bool>,
                "the elements of a vector are numbers; for halves write _Float16");
  using VectorElements<T, N>::e;
  using Mask = ext_vector<MaskElement<sizeof(T)>, N>;

  ext_vector() = default;
  // A number becomes a vector of equal elements.
  template <ConvertsTo<T> S>
  ext_vector(S&& value) {
    const T element = static_cast<T>(value);
    for (int i = 0; i < N; ++i) e[i] = element;
  }
  // {a, b, c}: the rest is zero.
  HIPCPU_UNCHECKED ext_vector(std::initializer_list<T> values) : VectorElements<T, N>{} {
    int i = 0;
    for (const T& value : values) e[i++ < N ? i - 1 : N - 1] = value;
  }
  // As in C, a cast between vectors of the same size keeps the bits.
  template <class U, int M>
    requires(sizeof(ext_vector<U, M>) == vector_alignment(sizeof(T) * N) && !(std::is_same_v<T, U> && N == M))
  explicit ext_vector(const ext_vector<U, M>& other) {
    std::memcpy(static_cast<void*>(this), &other, sizeof other);
  }
  template <class S>
    requires(is_scalar<S> && N > 1 && sizeof(S) == sizeof(T) * N)
  explicit operator S() const {
    S bits;
    std::memcpy(&bits, this, sizeof bits);
    return bits;
  }

  // A constant, because the assignment to a temporary object would have no effect.
  template <int... Index>
  const ext_vector<T, sizeof...(Index)> hipcpu_elements(Order<Index...>) const {
    static_assert(((Index < N) && ...), "the vector has no such element");
    return {e[Index]...};
  }
  template <int First>
  const auto hipcpu_elements(EverySecond<First>) const {
    if constexpr (N == 2) {
      return e[First];
    } else {
      ext_vector<T, N / 2> half;
      for (int i = 0; i < N / 2; ++i) half.e[i] = e[2 * i + First];
      return half;
    }
  }
  template <int... Index>
  VectorPlaces<T, N, Index...> hipcpu_places(Order<Index...>) & {
    return {*this};
  }

  __attribute__((always_inline)) T& operator[](ptrdiff_t i) { return e[i]; }
  __attribute__((always_inline)) const T& operator[](ptrdiff_t i) const { return e[i]; }

  HIPCPU_VECTOR_BINARY(+)
  HIPCPU_VECTOR_BINARY(-)
  HIPCPU_VECTOR_BINARY(*)
  HIPCPU_VECTOR_BINARY(/)
  HIPCPU_VECTOR_BINARY(%)
  HIPCPU_VECTOR_BINARY(&)
  HIPCPU_VECTOR_BINARY(|)
  HIPCPU_VECTOR_BINARY(^)
  HIPCPU_VECTOR_BINARY(<<)
  HIPCPU_VECTOR_BINARY(>>)
  HIPCPU_VECTOR_COMPARE(==)
  HIPCPU_VECTOR_COMPARE(!=)
  HIPCPU_VECTOR_COMPARE(<)
  HIPCPU_VECTOR_COMPARE(<=)
  HIPCPU_VECTOR_COMPARE(>)
  HIPCPU_VECTOR_COMPARE(>=)
  HIPCPU_VECTOR_COMPARE(&&)
  HIPCPU_VECTOR_COMPARE(||)
  HIPCPU_VECTOR_UNARY(-)
  HIPCPU_VECTOR_UNARY(+)
  HIPCPU_VECTOR_UNARY(~)
  friend inline Mask operator!(const ext_vector& a) { return a == ext_vector(T(0)); }
  friend inline ext_vector& operator++(ext_vector& a) { return a = a + ext_vector(T(1)); }
  friend inline ext_vector& operator--(ext_vector& a) { return a = a - ext_vector(T(1)); }
  friend inline ext_vector operator++(ext_vector& a, int) {
    const ext_vector before = a;
    ++a;
    return before;
  }
  friend inline ext_vector operator--(ext_vector& a, int) {
    const ext_vector before = a;
    --a;
    return before;
  }
};

#undef HIPCPU_VECTOR_BINARY
#undef HIPCPU_VECTOR_COMPARE
#undef HIPCPU_VECTOR_UNARY

template <class T, size_t Bytes>
  requires(Bytes % sizeof(T) == 0)
using sized_vector = ext_vector<T, static_cast<int>(Bytes / sizeof(T))>;

template <class To>
struct VectorConversion;
template <class U, int N>
struct VectorConversion<ext_vector<U, N>> {
  template <class T>
  static ext_vector<U, N> convert(const ext_vector<T, N>& from) {
    ext_vector<U, N> to;
    for (int i = 0; i < N; ++i) to.e[i] = static_cast<U>(from.e[i]);
    return to;
  }
};

// The target of an assignment to a swizzle.
template <class T, int N, int... Index>
struct VectorPlaces {
  static constexpr int kCount = sizeof...(Index);
  using Value = ext_vector<T, kCount>;
  static_assert(((Index < N) && ...), "the vector has no such element");

  static constexpr bool are_distinct() {
    constexpr int indexes[] = {Index...};
    for (int i = 0; i < kCount; ++i)
      for (int j = 0; j < i; ++j)
        if (indexes[i] == indexes[j]) return false;
    return true;
  }
  static_assert(are_distinct(), "an assignment to a swizzle can have each element only once");

  ext_vector<T, N>& vector;

  const Value operator=(const Value& values) const {
    const Value copy = values;  // they may be elements of the same vector
    int i = 0;
    ((vector.e[Index] = copy.e[i++]), ...);
    return copy;
  }
#define HIPCPU_PLACES(op) \
  const Value operator op##=(const Value& values) const { return *this = Value{vector.e[Index]...} op values; }
  HIPCPU_PLACES(+)
  HIPCPU_PLACES(-)
  HIPCPU_PLACES(*)
  HIPCPU_PLACES(/)
  HIPCPU_PLACES(%)
  HIPCPU_PLACES(&)
  HIPCPU_PLACES(|)
  HIPCPU_PLACES(^)
  HIPCPU_PLACES(<<)
#undef HIPCPU_PLACES
};

template <class V>
inline constexpr bool is_vector = false;
template <class T, int N>
inline constexpr bool is_vector<ext_vector<T, N>> = true;

// The operand of a builtin. Clang converts any vector of the same size, such as one of __bf16 where the builtin expects
// one of short.
template <class V>
struct VectorOperand : V {
  using V::V;
  VectorOperand() = default;
  template <class S>
    requires std::is_convertible_v<S, V>
  VectorOperand(S&& value) : V(std::forward<S>(value)) {}
  template <class T, int N>
    requires(sizeof(ext_vector<T, N>) == sizeof(V) && !std::is_same_v<ext_vector<T, N>, V>)
  VectorOperand(const ext_vector<T, N>& other) : V(other) {}
};
template <class V>
using Operand = std::conditional_t<is_vector<V>, VectorOperand<V>, V>;

// mask ? a : b by element, where a and b are vectors, or a number for all elements.
template <class M, int N, class A, class B>
inline auto select(const ext_vector<M, N>& mask, A&& a, B&& b) {
  using First = std::remove_cvref_t<decltype(a())>;
  using Second = std::remove_cvref_t<decltype(b())>;
  if constexpr (!is_vector<First> && !is_vector<Second>) {
    using Both = ext_vector<std::common_type_t<First, Second>, N>;
    return select(mask, [&] { return Both(a()); }, [&] { return Both(b()); });
  } else {
    using Result = std::conditional_t<is_vector<First>, First, Second>;
    static_assert(sizeof(Result) == sizeof mask, "a mask has elements of the same size as those that it selects");
    const Result yes = a(), no = b();
    Result r;
    for (int i = 0; i < N; ++i) r.e[i] = mask.e[i] ? yes.e[i] : no.e[i];
    return r;
  }
}
template <class C, class A, class B>
  requires(!is_vector<std::remove_cvref_t<C>>)
inline decltype(auto) select(C&& condition, A&& a, B&& b) {
  return condition ? a() : b();
}

// Each index selects an element of a or, from N on, of b.
template <int... Index, class T, int N>
inline ext_vector<T, sizeof...(Index)> shuffle_vector(const ext_vector<T, N>& a, const ext_vector<T, N>& b) {
  static_assert(((Index >= -1 && Index < 2 * N) && ...), "an index of __builtin_shufflevector is out of range");
  return {(Index < N ? a.e[Index < 0 ? 0 : Index % N] : b.e[Index % N])...};
}

template <class T, int N, class Op>
inline ext_vector<T, N> for_elements(const ext_vector<T, N>& a, const ext_vector<T, N>& b, Op op) {
  ext_vector<T, N> r;
  for (int i = 0; i < N; ++i) r.e[i] = op(a.e[i], b.e[i]);
  return r;
}

template <class T, int N, class Op>
inline T fold_elements(const ext_vector<T, N>& a, Op op) {
  T r = a.e[0];
  for (int i = 1; i < N; ++i) r = op(r, a.e[i]);
  return r;
}

}  // namespace hipcpu

// Clang's builtins for vectors

#define __builtin_convertvector(vector, ...) (::hipcpu::VectorConversion<__VA_ARGS__>::convert(vector))
#define __builtin_shufflevector(a, b, ...) (::hipcpu::shuffle_vector<__VA_ARGS__>(a, b))

template <class T, int N>
HIPCPU_BUILTIN_TEMPLATE hipcpu::ext_vector<T, N> __builtin_nontemporal_load(const hipcpu::ext_vector<T, N>* pointer) {
  return *pointer;
}
template <class T, int N>
HIPCPU_BUILTIN_TEMPLATE void __builtin_nontemporal_store(const hipcpu::ext_vector<T, N>& value,
                                                         hipcpu::ext_vector<T, N>* pointer) {
  *pointer = value;
}

#define HIPCPU_ELEMENTWISE(name, expression)                                                                   \
  template <class T, int N>                                                                                    \
  HIPCPU_BUILTIN_TEMPLATE hipcpu::ext_vector<T, N> name(const hipcpu::ext_vector<T, N>& a, const hipcpu::ext_vector<T, N>& b) { \
    return hipcpu::for_elements(a, b, [](T x, T y) -> T { return expression; });                              \
  }
HIPCPU_ELEMENTWISE(__builtin_elementwise_max, x < y || x != x ? y : x)
HIPCPU_ELEMENTWISE(__builtin_elementwise_min, y < x || x != x ? y : x)
#undef HIPCPU_ELEMENTWISE

template <class T, int N>
HIPCPU_BUILTIN_TEMPLATE hipcpu::ext_vector<T, N> __builtin_elementwise_abs(const hipcpu::ext_vector<T, N>& a) {
  return hipcpu::for_elements(a, a, [](T x, T) -> T { return x < T(0) || x == T(0) ? T(T(0) - x) : x; });
}

#define HIPCPU_REDUCE(name, expression)                                                  \
  template <class T, int N>                                                              \
  HIPCPU_BUILTIN_TEMPLATE T name(const hipcpu::ext_vector<T, N>& a) {                    \
    return hipcpu::fold_elements(a, [](T x, T y) -> T { return expression; });           \
  }
HIPCPU_REDUCE(__builtin_reduce_max, x < y ? y : x)
HIPCPU_REDUCE(__builtin_reduce_min, y < x ? y : x)
HIPCPU_REDUCE(__builtin_reduce_add, x + y)
HIPCPU_REDUCE(__builtin_reduce_mul, x* y)
HIPCPU_REDUCE(__builtin_reduce_and, x& y)
HIPCPU_REDUCE(__builtin_reduce_or, x | y)
HIPCPU_REDUCE(__builtin_reduce_xor, x ^ y)
#undef HIPCPU_REDUCE

#endif
