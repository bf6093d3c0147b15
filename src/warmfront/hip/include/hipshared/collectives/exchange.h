// Exchanges of items between the threads of a block, loads and stores.
//
// In the blocked arrangement a thread has kItems consecutive items; in the striped one, every kThreads-th.
#pragma once

#include <hipshared/collectives/operators.h>

namespace hipshared::collectives {

template <class T, unsigned kThreads, unsigned kItems>
struct ExchangeStorage {
  T items[kThreads * kItems];
};

template <unsigned kThreads, unsigned kItems>
__device__ inline unsigned blocked(unsigned i) {
  return linear_thread() * kItems + i;
}

template <unsigned kThreads, unsigned kItems>
__device__ inline unsigned striped(unsigned i) {
  return i * kThreads + linear_thread();
}

// Puts each item where `to` says, and takes those where `from` says; both are functions of the item's number.
template <class T, unsigned kThreads, unsigned kItems, class To, class From>
__device__ inline void exchange(ExchangeStorage<T, kThreads, kItems>& storage, const T (&items)[kItems],
                                T (&outputs)[kItems], To to, From from, Line line) {
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) storage.items[to(i)] = items[i];
  wait_for_block(line);
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) outputs[i] = storage.items[from(i)];
}

enum class Arrangement { kBlocked, kStriped, kTransposed };

// Loads the items below `valid` in the given order of memory accesses; others are not changed. Transposed: memory is
// read in the striped arrangement, and items end in the blocked one.
template <Arrangement kArrangement, class T, unsigned kThreads, unsigned kItems, class Iterator>
__device__ inline void load_items(ExchangeStorage<T, kThreads, kItems>& storage, Iterator from, T (&items)[kItems],
                                  unsigned valid, Line line) {
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = kArrangement == Arrangement::kBlocked ? blocked<kThreads, kItems>(i) : striped<kThreads, kItems>(i);
    if constexpr (kArrangement == Arrangement::kTransposed) {
      if (at < valid) storage.items[at] = from[at];
    } else if (at < valid) {
      items[i] = from[at];
    }
  }
  if constexpr (kArrangement == Arrangement::kTransposed) {
    wait_for_block(line);
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i)
      if (blocked<kThreads, kItems>(i) < valid) items[i] = storage.items[blocked<kThreads, kItems>(i)];
  }
}

template <Arrangement kArrangement, class T, unsigned kThreads, unsigned kItems, class Iterator>
__device__ inline void store_items(ExchangeStorage<T, kThreads, kItems>& storage, Iterator to, const T (&items)[kItems],
                                   unsigned valid, Line line) {
  if constexpr (kArrangement == Arrangement::kTransposed) {
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i) storage.items[blocked<kThreads, kItems>(i)] = items[i];
    wait_for_block(line);
  }
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = kArrangement == Arrangement::kBlocked ? blocked<kThreads, kItems>(i) : striped<kThreads, kItems>(i);
    if (at < valid) to[at] = kArrangement == Arrangement::kTransposed ? storage.items[at] : items[i];
  }
}

}  // namespace hipshared::collectives
