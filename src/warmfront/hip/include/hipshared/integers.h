// Integer intrinsics: moving bits, products and averages.
//
// The target provides those for which it has an instruction: __clz, __ffs and __brev.
#pragma once

__device__ static inline int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

// Selects four of the eight bytes in y:x, each by a nibble of the selector; its top bit replicates the sign.
__device__ static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
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

// Shifts of the 64 bits high:low. The forms with c clamp the shift to 32, the others take it modulo 32.
__device__ static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
__device__ static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
__device__ static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
__device__ static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

__device__ static inline unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
  return width == 0 ? 0 : x << (32 - (offset & 31) - (width & 31)) >> (32 - (width & 31));
}
__device__ static inline unsigned __bitinsert_u32(unsigned x, unsigned bits, unsigned offset, unsigned width) {
  const unsigned mask = ((1u << (width & 31)) - 1) << (offset & 31);
  return (x & ~mask) | (bits << (offset & 31) & mask);
}

__device__ static inline unsigned long long __bitextract_u64(unsigned long long x, unsigned offset, unsigned width) {
  return width == 0 ? 0 : x << (64 - (offset & 63) - (width & 63)) >> (64 - (width & 63));
}
__device__ static inline unsigned long long __bitinsert_u64(unsigned long long x, unsigned long long bits,
                                                            unsigned offset, unsigned width) {
  const unsigned long long mask = ((1ull << (width & 63)) - 1) << (offset & 63);
  return (x & ~mask) | (bits << (offset & 63) & mask);
}

// Products

// The low 24 bits of each factor; the low 32 bits of the product.
__device__ static inline int __mul24(int x, int y) {
  const auto a = static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(x) << 8) >> 8);
  const auto b = static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(y) << 8) >> 8);
  return static_cast<int>(a * b);
}
__device__ static inline int __umul24(unsigned x, unsigned y) { return static_cast<int>((x & 0xffffffu) * (y & 0xffffffu)); }
__device__ static inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
__device__ static inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
__device__ static inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
__device__ static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// Averages, rounded down and up, that do not overflow; sums of absolute differences.

__device__ static inline int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__device__ static inline int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__device__ static inline unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
__device__ static inline unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
__device__ static inline unsigned __sad(int x, int y, unsigned z) {
  const auto a = static_cast<unsigned>(x), b = static_cast<unsigned>(y);
  return (x > y ? a - b : b - a) + z;
}
__device__ static inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
