// Integer intrinsics that are an instruction of the target: counting and reversing bits, dot products of bytes.
#pragma once

#include <type_traits>

#include <hipshared/integers.h>

#pragma clang force_cuda_host_device begin

static inline int __clz(int x) { return __builtin_clzg(static_cast<unsigned>(x), 32); }
static inline int __clzll(long long x) { return __builtin_clzg(static_cast<unsigned long long>(x), 64); }

// The position of the lowest bit, counted from 1, or 0. A template, because lane masks have any integer type.
template <class T>
  requires std::is_integral_v<T>
static inline int __ffs(T x) {
  return __builtin_ctzg(static_cast<std::make_unsigned_t<T>>(x), -1) + 1;
}
template <class T>
  requires std::is_integral_v<T>
static inline int __ffsll(T x) {
  return __ffs(x);
}

static inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
static inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

#pragma clang force_cuda_host_device end

// Dot products of the four bytes of a word, added to c.
__device__ static inline int __dp4a(int a, int b, int c) { return __builtin_amdgcn_sdot4(a, b, c, false); }
__device__ static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return __builtin_amdgcn_udot4(a, b, c, false);
}
