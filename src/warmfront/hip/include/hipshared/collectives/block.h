// Reductions and scans of a block of kThreads threads: in waves first, then over the waves in shared memory.
#pragma once

#include <hipshared/collectives/wave.h>

namespace hipshared::collectives {

template <class T, unsigned kThreads>
struct BlockStorage {
  static constexpr unsigned kWaves = (kThreads + 63) / 64;
  T parts[kWaves];
  T broadcast;
};

// Combines the items of one thread, in order.
template <class T, unsigned kItems, class Op>
__device__ inline T reduce_items(const T (&items)[kItems], Op op) {
  T value = items[0];
#pragma unroll
  for (unsigned i = 1; i < kItems; ++i) value = op(value, items[i]);
  return value;
}

// Combines the values of the first `valid` threads. Every thread gets the result if kForAll, otherwise thread 0.
template <unsigned kThreads, bool kForAll = false, class T, class Op>
__device__ inline T reduce_block(BlockStorage<T, kThreads>& storage, T value, Op op, unsigned valid, Line line) {
  constexpr unsigned kWaves = BlockStorage<T, kThreads>::kWaves;
  const unsigned thread = linear_thread(), wave = thread / 64;
  const unsigned before = wave * 64;
  value = reduce_group<64>(value, op, valid > before ? valid - before : 0, line);
  if constexpr (kWaves == 1 && !kForAll) return value;
  if (thread % 64 == 0) storage.parts[wave] = value;
  wait_for_block(line);
  if (kForAll || thread == 0) {
    const unsigned waves = valid < kThreads ? (valid + 63) / 64 : kWaves;
    value = storage.parts[0];
    for (unsigned i = 1; i < waves; ++i) value = op(value, storage.parts[i]);
  }
  return value;
}

// The results of a scan for one thread: the combined values up to and including its own, those before it
// (thread 0 has none), and those of the block.
template <class T>
struct Scan {
  T inclusive, exclusive, total;
};

template <unsigned kThreads, class T, class Op>
__device__ inline Scan<T> scan_block(BlockStorage<T, kThreads>& storage, T value, Op op, Line line) {
  constexpr unsigned kWaves = BlockStorage<T, kThreads>::kWaves;
  const unsigned thread = linear_thread(), wave = thread / 64, lane = thread % 64;
  Scan<T> scan;
  scan.inclusive = scan_group<64>(value, op, line);
  scan.exclusive = from_previous<64>(scan.inclusive, line);
  if constexpr (kWaves == 1) {
    scan.total = from_last<64>(scan.inclusive, line);
    return scan;
  }
  if (lane == 63 || thread == kThreads - 1) storage.parts[wave] = scan.inclusive;
  wait_for_block(line);
  T before = storage.parts[0];  // of the waves before this one
  T total = before;
#pragma unroll
  for (unsigned i = 1; i < kWaves; ++i) {
    if (i == wave) before = total;
    total = op(total, storage.parts[i]);
  }
  if (wave > 0) {
    scan.inclusive = op(before, scan.inclusive);
    scan.exclusive = lane == 0 ? before : op(before, scan.exclusive);
  }
  scan.total = total;
  return scan;
}

// Scans the items of all threads, in order. `initial` comes before the first one, unless it is null; without it, the
// first output of an exclusive scan is undefined: here it is the first item.
template <bool kInclusive, unsigned kThreads, unsigned kItems, class T, class Op>
__device__ inline T scan_items(BlockStorage<T, kThreads>& storage, const T (&items)[kItems], T (&outputs)[kItems],
                               const T* initial, Op op, Line line) {
  const Scan<T> scan = scan_block(storage, reduce_items(items, op), op, line);
  const bool is_first = linear_thread() == 0;
  bool has_before = !is_first || initial != nullptr;
  T before = is_first ? (initial ? *initial : items[0]) : initial ? op(*initial, scan.exclusive) : scan.exclusive;
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const T item = items[i];
    const T next = has_before ? op(before, item) : item;
    outputs[i] = kInclusive ? next : before;
    before = next;
    has_before = true;
  }
  return scan.total;
}

// The same with a prefix that a function of the block's total provides: the first wave calls it, and lane 0's counts.
template <bool kInclusive, unsigned kThreads, unsigned kItems, class T, class Op, class Prefix>
__device__ inline void scan_items_after(BlockStorage<T, kThreads>& storage, const T (&items)[kItems],
                                        T (&outputs)[kItems], Op op, Prefix& prefix, Line line) {
  const Scan<T> scan = scan_block(storage, reduce_items(items, op), op, line);
  const unsigned thread = linear_thread();
  if (thread < 64) {
    const T begins = prefix(scan.total);
    if (thread == 0) storage.broadcast = begins;
  }
  wait_for_block(line);
  T before = thread == 0 ? storage.broadcast : op(storage.broadcast, scan.exclusive);
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const T next = op(before, items[i]);
    outputs[i] = kInclusive ? next : before;
    before = next;
  }
}

}  // namespace hipshared::collectives
