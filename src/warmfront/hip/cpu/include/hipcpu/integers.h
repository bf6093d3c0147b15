// Integer intrinsics of the device: counting and moving bits, products, averages.
#pragma once

#include <type_traits>

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }

// The place of the lowest bit, counted from 1, or 0. A template, as lane masks come in every integer type.
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

// Four bytes of the eight in y:x, each named by a nibble of the selector; its top bit copies the sign.
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> 4 * i & 0xf;
    unsigned byte = bytes >> 8 * (nibble & 7) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

// Shifts of the 64 bits high:low; the forms with c stop at 32, the others count modulo 32.
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

static inline unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
  return width == 0 ? 0 : x << (32 - (offset & 31) - (width & 31)) >> (32 - (width & 31));
}
static inline unsigned __bitinsert_u32(unsigned x, unsigned bits, unsigned offset, unsigned width) {
  const unsigned mask = ((1u << (width & 31)) - 1) << (offset & 31);
  return (x & ~mask) | (bits << (offset & 31) & mask);
}

// Products

// The low 24 bits of each factor; of the product, 32.
static inline int __mul24(int x, int y) {
  const long long a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
  const long long b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
  return static_cast<int>(a * b);
}
static inline int __umul24(unsigned x, unsigned y) {
  return static_cast<int>((x & 0xffffffu) * (y & 0xffffffu));
}
static inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
static inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// Averages, rounded down and up, that do not overflow; sums of absolute differences.

static inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
static inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
static inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
static inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
static inline unsigned __sad(int x, int y, unsigned z) {
  const long long difference = static_cast<long long>(x) - y;
  return static_cast<unsigned>(difference < 0 ? -difference : difference) + z;
}
static inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }

// Dot products of four bytes or two halves of a word, added to c.

template <class Byte, class Sum>
static inline auto hipcpu_dot4(unsigned a, unsigned b, Sum c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<Sum>(Byte(a >> i)) * static_cast<Sum>(Byte(b >> i));
  return c;
}
static inline int __dp4a(int a, int b, int c) { return hipcpu_dot4<signed char>(a, b, c); }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return hipcpu_dot4<unsigned char>(a, b, c); }
