// Integer intrinsics that depend on the compiler: counting and reversing bits.
#pragma once

#include <hipshared/integers.h>

__device__ static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
__device__ static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }

// The position of the lowest bit, counted from 1, or 0.
__device__ static inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
__device__ static inline int __ffs(int x) { return __builtin_ffs(x); }
__device__ static inline int __ffsll(unsigned long long x) { return __builtin_ffsll(static_cast<long long>(x)); }
__device__ static inline int __ffsll(long long x) { return __builtin_ffsll(x); }

__device__ static inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
__device__ static inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
