// Integer intrinsics that are an instruction of the target: counting and reversing bits.
#pragma once

#include <hipshared/integers.h>

__device__ static inline int __clz(int x) { return __builtin_clzg(static_cast<unsigned>(x), 32); }
__device__ static inline int __clzll(long long x) { return __builtin_clzg(static_cast<unsigned long long>(x), 64); }

// The position of the lowest bit, counted from 1, or 0.
__device__ static inline int __ffs(unsigned x) { return __builtin_ctzg(x, -1) + 1; }
__device__ static inline int __ffs(int x) { return __ffs(static_cast<unsigned>(x)); }
__device__ static inline int __ffsll(unsigned long long x) { return __builtin_ctzg(x, -1) + 1; }
__device__ static inline int __ffsll(long long x) { return __ffsll(static_cast<unsigned long long>(x)); }

__device__ static inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__device__ static inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
