// HIP's atomic operations on global and on shared memory, relaxed as on a GPU.
#pragma once

#include <type_traits>

#include <hipcpu/checked.h>
#include <hipshared/atomic_types.h>

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

namespace hipcpu {

template <class T>
inline constexpr bool is_atomic_number =
    std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
inline constexpr bool is_atomic_integer = is_atomic_number<T> && std::is_integral_v<T>;

template <class T>
struct Same {
  using type = T;
};
// A parameter of this type accepts any value that converts to T; T is deduced from the pointer alone.
template <class T>
using Value = typename Same<T>::type;

template <class T>
inline auto atomic_load(const T* p, int order = __ATOMIC_RELAXED, int = 0) {
  T result;
  __atomic_load(p, &result, order);
  return result;
}
template <class T>
inline void atomic_store(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  __atomic_store(p, &v, order);
}
template <class T>
inline T atomic_exchange(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  T result;
  __atomic_exchange(p, &v, &result, order);
  return result;
}
// Compares bits, as the hardware does.
template <class T>
inline auto atomic_compare_exchange(T* p, T* expected, Value<T> desired, int success = __ATOMIC_RELAXED,
                                    int failure = __ATOMIC_RELAXED, int = 0) {
  return __atomic_compare_exchange(p, expected, &desired, false, success, failure);
}

// Replaces *p with f(*p) and returns the old value.
template <class T, class F>
HIPCPU_UNCHECKED inline auto atomic_update(T* p, F f, int order = __ATOMIC_RELAXED) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_update(p, sizeof(T));
  const T old = *p;  // needs no atomic: a checked build has one worker
  *p = f(old);
#else
  T old = atomic_load(p);
  while (!atomic_compare_exchange(p, &old, f(old), order, __ATOMIC_RELAXED)) {
  }
#endif
  return old;
}

template <class T>
inline T atomic_add(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_number<T>, "atomicAdd needs 32-bit or 64-bit numbers");
  if constexpr (std::is_integral_v<T>) return __atomic_fetch_add(p, v, order);
  else return atomic_update(p, [v](T old) { return old + v; }, order);
}
template <class T>
inline T atomic_sub(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_number<T>, "atomicSub needs 32-bit or 64-bit numbers");
  if constexpr (std::is_integral_v<T>) return __atomic_fetch_sub(p, v, order);
  else return atomic_update(p, [v](T old) { return old - v; }, order);
}
// Most calls do not change the extremum: those only read.
template <class T, class Better>
HIPCPU_UNCHECKED inline T atomic_improve(T* p, T v, Better better, int order) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_update(p, sizeof(T));
  const T old = *p;
  if (better(v, old)) *p = v;
#else
  T old = atomic_load(p);
  while (better(v, old) && !atomic_compare_exchange(p, &old, v, order, __ATOMIC_RELAXED)) {
  }
#endif
  return old;
}
template <class T>
inline T atomic_min(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_number<T>, "atomicMin needs 32-bit or 64-bit numbers");
  return atomic_improve(p, v, [](T a, T b) { return a < b || b != b; }, order);
}
template <class T>
inline T atomic_max(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_number<T>, "atomicMax needs 32-bit or 64-bit numbers");
  return atomic_improve(p, v, [](T a, T b) { return a > b || b != b; }, order);
}
template <class T>
inline T atomic_and(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_integer<T>, "atomicAnd needs 32-bit or 64-bit integers");
  return __atomic_fetch_and(p, v, order);
}
template <class T>
inline T atomic_or(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_integer<T>, "atomicOr needs 32-bit or 64-bit integers");
  return __atomic_fetch_or(p, v, order);
}
template <class T>
inline T atomic_xor(T* p, Value<T> v, int order = __ATOMIC_RELAXED, int = 0) {
  static_assert(is_atomic_integer<T>, "atomicXor needs 32-bit or 64-bit integers");
  return __atomic_fetch_xor(p, v, order);
}

// The fast form of an addition to a pair of 16-bit numbers, which is the ordinary one here.
template <class P>
inline P unsafe_pair_add(P* pointer, P value) {
  return atomic_update(pointer, [value](P old) { return old + value; });
}

}  // namespace hipcpu

// Each operation exists with the scope of the device and of the system, which are the same here.
#define HIPCPU_ATOMIC_NAMED(name, operation, kind) \
  template <class T>                               \
    requires hipshared::is_atomic_##kind<T>        \
  inline T name(T* p, hipcpu::Value<T> v) {        \
    return hipcpu::operation(p, v);                \
  }
#define HIPCPU_ATOMIC(name, operation, kind)  \
  HIPCPU_ATOMIC_NAMED(name, operation, kind) \
  HIPCPU_ATOMIC_NAMED(name##_system, operation, kind)
HIPCPU_ATOMIC(atomicAdd, atomic_add, number)
HIPCPU_ATOMIC(atomicSub, atomic_sub, number)
HIPCPU_ATOMIC(atomicMin, atomic_min, ordered)
HIPCPU_ATOMIC(atomicMax, atomic_max, ordered)
HIPCPU_ATOMIC(atomicAnd, atomic_and, integer)
HIPCPU_ATOMIC(atomicOr, atomic_or, integer)
HIPCPU_ATOMIC(atomicXor, atomic_xor, integer)
HIPCPU_ATOMIC(atomicExch, atomic_exchange, number)

template <class T>
  requires hipshared::is_atomic_swapped<T>
inline T atomicCAS(T* p, hipcpu::Value<T> compare, hipcpu::Value<T> v) {
  hipcpu::atomic_compare_exchange(p, &compare, v);
  return compare;
}
template <class T>
  requires hipshared::is_atomic_swapped<T>
inline T atomicCAS_system(T* p, hipcpu::Value<T> compare, hipcpu::Value<T> v) {
  return atomicCAS(p, compare, v);
}

inline unsigned atomicInc(unsigned* p, unsigned limit) {
  return hipcpu::atomic_update(p, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned limit) {
  return hipcpu::atomic_update(p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

// The fast forms, which are the same as the others here.
HIPCPU_ATOMIC_NAMED(unsafeAtomicAdd, atomic_add, floating)
HIPCPU_ATOMIC_NAMED(unsafeAtomicMin, atomic_min, floating)
HIPCPU_ATOMIC_NAMED(unsafeAtomicMax, atomic_max, floating)
HIPCPU_ATOMIC_NAMED(safeAtomicAdd, atomic_add, floating)
HIPCPU_ATOMIC_NAMED(safeAtomicMin, atomic_min, floating)
HIPCPU_ATOMIC_NAMED(safeAtomicMax, atomic_max, floating)
#undef HIPCPU_ATOMIC
#undef HIPCPU_ATOMIC_NAMED
inline void atomicAddNoRet(float* p, float v) { atomicAdd(p, v); }

// Clang's builtins for HIP, with an order and a scope.
#define __hip_atomic_load ::hipcpu::atomic_load
#define __hip_atomic_store ::hipcpu::atomic_store
#define __hip_atomic_exchange ::hipcpu::atomic_exchange
#define __hip_atomic_compare_exchange_weak ::hipcpu::atomic_compare_exchange
#define __hip_atomic_compare_exchange_strong ::hipcpu::atomic_compare_exchange
#define __hip_atomic_fetch_add ::hipcpu::atomic_add
#define __hip_atomic_fetch_sub ::hipcpu::atomic_sub
#define __hip_atomic_fetch_and ::hipcpu::atomic_and
#define __hip_atomic_fetch_or ::hipcpu::atomic_or
#define __hip_atomic_fetch_xor ::hipcpu::atomic_xor
#define __hip_atomic_fetch_min ::hipcpu::atomic_min
#define __hip_atomic_fetch_max ::hipcpu::atomic_max
