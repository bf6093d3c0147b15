// Loads and stores with a cache hint. The hint is ignored: each is a plain access.
#pragma once

#include <type_traits>

#define HIPSHARED_LOAD(name)                         \
  template <class T>                                 \
  __device__ static inline T name(const T* pointer) { \
    return *pointer;                                 \
  }
HIPSHARED_LOAD(__ldg)
HIPSHARED_LOAD(__ldca)
HIPSHARED_LOAD(__ldcg)
HIPSHARED_LOAD(__ldcs)
HIPSHARED_LOAD(__ldcv)
HIPSHARED_LOAD(__ldlu)
#ifndef __clang__
HIPSHARED_LOAD(__builtin_nontemporal_load)
#endif
#undef HIPSHARED_LOAD

#define HIPSHARED_STORE(name)                                                     \
  template <class T>                                                              \
  __device__ static inline void name(T* pointer, std::type_identity_t<T> value) { \
    *pointer = value;                                                             \
  }
HIPSHARED_STORE(__stcg)
HIPSHARED_STORE(__stcs)
HIPSHARED_STORE(__stwb)
HIPSHARED_STORE(__stwt)
#undef HIPSHARED_STORE
#ifndef __clang__
template <class T, class V>
static inline void __builtin_nontemporal_store(V value, T* pointer) {
  *pointer = value;
}
#endif
