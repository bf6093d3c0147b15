// Integer intrinsics that depend on the compiler: counting and reversing bits, dot products of bytes.
#pragma once

#include <type_traits>

#include <hipshared/integers.h>

static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }

// The position of the lowest bit, counted from 1, or 0. A template, because lane masks have any integer type.
template <class T>
  requires std::is_integral_v<T>
static inline int __ffs(T x) {
  return __builtin_ffsll(static_cast<long long>(static_cast<std::make_unsigned_t<T>>(x)));
}
template <class T>
  requires std::is_integral_v<T>
static inline int __ffsll(T x) {
  return __ffs(x);
}

static inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

// Dot products of the four bytes of a word, added to c.
template <class Byte, class Sum>
static inline auto hipcpu_dot4(unsigned a, unsigned b, Sum c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<Sum>(Byte(a >> i)) * static_cast<Sum>(Byte(b >> i));
  return c;
}
static inline int __dp4a(int a, int b, int c) { return hipcpu_dot4<signed char>(a, b, c); }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return hipcpu_dot4<unsigned char>(a, b, c); }
