// Loads through a cache, and those that bypass it. The hint is ignored: each is a plain access.
// HIP has __ldcs, __stcs and similar functions only for halves, in hip_fp16.h.
#pragma once

#define HIPSHARED_LOAD(name, type) \
  __device__ static inline type name(const type* pointer) { return *pointer; }
HIPSHARED_LOAD(__ldg, char)
HIPSHARED_LOAD(__ldg, signed char)
HIPSHARED_LOAD(__ldg, unsigned char)
HIPSHARED_LOAD(__ldg, short)
HIPSHARED_LOAD(__ldg, unsigned short)
HIPSHARED_LOAD(__ldg, int)
HIPSHARED_LOAD(__ldg, unsigned)
HIPSHARED_LOAD(__ldg, long)
HIPSHARED_LOAD(__ldg, unsigned long)
HIPSHARED_LOAD(__ldg, long long)
HIPSHARED_LOAD(__ldg, unsigned long long)
HIPSHARED_LOAD(__ldg, float)
HIPSHARED_LOAD(__ldg, double)
HIPSHARED_LOAD(__ldg, char2)
HIPSHARED_LOAD(__ldg, char4)
HIPSHARED_LOAD(__ldg, uchar2)
HIPSHARED_LOAD(__ldg, uchar4)
HIPSHARED_LOAD(__ldg, short2)
HIPSHARED_LOAD(__ldg, short4)
HIPSHARED_LOAD(__ldg, ushort2)
HIPSHARED_LOAD(__ldg, int2)
HIPSHARED_LOAD(__ldg, int4)
HIPSHARED_LOAD(__ldg, uint2)
HIPSHARED_LOAD(__ldg, uint4)
HIPSHARED_LOAD(__ldg, longlong2)
HIPSHARED_LOAD(__ldg, ulonglong2)
HIPSHARED_LOAD(__ldg, float2)
HIPSHARED_LOAD(__ldg, float4)
HIPSHARED_LOAD(__ldg, double2)

// Clang's builtins for numbers and pointers, which g++ does not have. They are always inlined, because to g++ all
// instantiations of a template whose name begins with `__builtin_` have one symbol.
#ifndef __clang__
template <class T>
  requires(std::is_arithmetic_v<T> || std::is_pointer_v<T>)
static inline __attribute__((always_inline)) T __builtin_nontemporal_load(const T* pointer) {
  return *pointer;
}
template <class T, class V>
  requires(std::is_arithmetic_v<T> || std::is_pointer_v<T>)
static inline __attribute__((always_inline)) void __builtin_nontemporal_store(V value, T* pointer) {
  *pointer = value;
}
#endif
