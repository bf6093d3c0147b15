// A stable sort of the items of a block, by two bits of the key at a time, from the lowest.
#pragma once

#include <hipshared/collectives/block.h>
#include <hipshared/collectives/exchange.h>

namespace hipshared::collectives {

template <unsigned kBytes>
struct Bits;
template <>
struct Bits<1> {
  using type = unsigned char;
};
template <>
struct Bits<2> {
  using type = unsigned short;
};
template <>
struct Bits<4> {
  using type = unsigned;
};
template <>
struct Bits<8> {
  using type = unsigned long long;
};

// An unsigned number in the order of the keys. Zeros of both signs are equal.
template <class Key>
__device__ inline typename Bits<sizeof(Key)>::type order_of(Key key) {
  using Unsigned = typename Bits<sizeof(Key)>::type;
  constexpr Unsigned kHighest = static_cast<Unsigned>(Unsigned(1) << (sizeof(Key) * 8 - 1));
  const auto bits = __builtin_bit_cast(Unsigned, key);
  if constexpr (std::is_integral_v<Key>) {
    return std::is_signed_v<Key> ? static_cast<Unsigned>(bits ^ kHighest) : bits;
  } else {
    if (bits == kHighest) return kHighest;
    return static_cast<Unsigned>((bits & kHighest) != 0 ? ~bits : bits | kHighest);
  }
}

template <class Key, class Value, unsigned kThreads, unsigned kItems>
struct SortStorage {
  BlockStorage<unsigned long long, kThreads> counts;
  union {
    ExchangeStorage<Key, kThreads, kItems> keys;
    ExchangeStorage<Value, kThreads, kItems> values;
  };
};

// The position of each item in the order of two bits.
template <bool kDescending, class Key, unsigned kItems, unsigned kThreads>
__device__ inline void rank_items(const Key (&keys)[kItems], unsigned bit, unsigned bits,
                                  unsigned (&ranks)[kItems], BlockStorage<unsigned long long, kThreads>& counts, Line line) {
  // The counts of the four digits are four numbers of 16 bits.
  unsigned long long mine = 0;
  unsigned digits[kItems];
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const auto order = order_of(keys[i]);
    digits[i] = static_cast<unsigned>((kDescending ? ~order : order) >> bit) & ((1u << bits) - 1);
    ranks[i] = static_cast<unsigned>(mine >> (16 * digits[i])) & 0xffff;
    mine += 1ull << (16 * digits[i]);
  }
  const auto scan = scan_block(counts, mine, Plus(), line);
  const unsigned long long before = linear_thread() == 0 ? 0 : scan.exclusive;
  // Shifting the totals up by one digit, and by two and three, adds those of all smaller digits.
  const unsigned long long smaller = (scan.total << 16) + (scan.total << 32) + (scan.total << 48);
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i)
    ranks[i] += static_cast<unsigned>((before + smaller) >> (16 * digits[i])) & 0xffff;
}

// `Given` is Value, or Nothing to sort keys alone.
template <bool kDescending, bool kToStriped, class Key, class Value, class Given, unsigned kThreads, unsigned kItems>
__device__ inline void sort_items(SortStorage<Key, Value, kThreads, kItems>& storage, Key (&keys)[kItems],
                                  Given (&values)[kItems], unsigned begin_bit, unsigned end_bit, Line line) {
  static_assert(kThreads * kItems < 65536, "a block sorts fewer than 65536 items");
  const auto take = [](unsigned i) { return blocked<kThreads, kItems>(i); };
  unsigned ranks[kItems];
  for (unsigned bit = begin_bit; bit < end_bit; bit += 2) {
    rank_items<kDescending>(keys, bit, end_bit - bit < 2 ? 1 : 2, ranks, storage.counts, line);
    const auto put = [&ranks](unsigned i) { return ranks[i]; };
    exchange(storage.keys, keys, keys, put, take, line);
    wait_for_block(line);
    if constexpr (!std::is_same_v<Given, Nothing>) {
      exchange(storage.values, values, values, put, take, line);
      wait_for_block(line);
    }
  }
  if constexpr (kToStriped) {
    const auto take_striped = [](unsigned i) { return striped<kThreads, kItems>(i); };
    exchange(storage.keys, keys, keys, take, take_striped, line);
    if constexpr (!std::is_same_v<Given, Nothing>) {
      wait_for_block(line);
      exchange(storage.values, values, values, take, take_striped, line);
    }
  }
}

}  // namespace hipshared::collectives
