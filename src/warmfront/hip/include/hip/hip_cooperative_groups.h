// Cooperative groups: a block, tiles of a wave, the lanes that are active together, and the whole grid.
//
// Everything but the barrier of a grid is built on the barriers, votes and shuffles of hipshared/wave.h, and takes
// its caller's line as those do. The target provides hiptarget::thread_in_block, hiptarget::sync_grid and
// hiptarget::can_sync_grid.
#pragma once

#include <hip/hip_runtime.h>

#include <utility>

HIPTARGET_HOST_DEVICE_BEGIN

namespace cooperative_groups {

namespace details {

using Mask = unsigned long long;

inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

inline Mask first_lanes(unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

// The lane with the number `rank` in the mask.
inline unsigned lane_of(Mask mask, unsigned rank) {
  for (; rank != 0 && mask != 0; --rank) mask &= mask - 1;
  return mask == 0 ? __lane_id() : __builtin_ctzll(mask);
}

// The bits of `votes` for the lanes of `mask`, compressed to the lowest bits.
inline Mask compress(Mask votes, Mask mask) {
  Mask result = 0;
  for (unsigned rank = 0; mask != 0; ++rank, mask &= mask - 1)
    if (votes & mask & -mask) result |= 1ull << rank;
  return result;
}

}  // namespace details

// Lanes of one wave: the base of tiles and coalesced groups.
class lane_group {
 public:
  explicit lane_group(details::Mask lanes) : lanes_(lanes) {}

  unsigned size() const { return __popcll(lanes_); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return __popcll(lanes_ & details::first_lanes(__lane_id())); }
  bool is_valid() const { return true; }
  void sync(int line = __builtin_LINE()) const { __syncwarp(lanes_, line); }

  template <class T>
  T shfl(T value, int source, int line = __builtin_LINE()) const {
    return hiptarget::shuffle(value, details::lane_of(lanes_, unsigned(source) % size()), line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank < delta ? rank : rank - delta), line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank + delta < size() ? rank + delta : rank), line);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return shfl(value, int((rank ^ mask) < size() ? rank ^ mask : rank), line);
  }

  details::Mask ballot(int predicate, int line = __builtin_LINE()) const {
    return details::compress(__ballot(predicate, line), lanes_);
  }
  int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }

  template <class T>
  details::Mask match_any(T value, int line = __builtin_LINE()) const {
    details::Mask same = 0;
    for (unsigned rank = 0; rank < size(); ++rank)
      if (shfl(value, int(rank), line) == value) same |= 1ull << rank;
    return same;
  }
  template <class T>
  details::Mask match_all(T value, int& holds, int line = __builtin_LINE()) const {
    holds = all(shfl(value, 0, line) == value, line);
    return holds ? details::first_lanes(size()) : 0;
  }

  // The index of this group among those that its parent was divided into.
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  details::Mask lanes() const { return lanes_; }

 protected:
  lane_group(details::Mask lanes, unsigned meta_rank, unsigned meta_size)
      : lanes_(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  details::Mask lanes_;
  unsigned meta_rank_ = 0;
  unsigned meta_size_ = 1;
};

class coalesced_group : public lane_group {
 public:
  explicit coalesced_group(details::Mask lanes) : lane_group(lanes) {}
  coalesced_group(details::Mask lanes, unsigned meta_rank, unsigned meta_size)
      : lane_group(lanes, meta_rank, meta_size) {}
};

// The active lanes.
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(__activemask(line));
}

// `Size` adjacent lanes of a wave. Its shuffles are those of the wave and need no mask.
template <unsigned Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size > 0 && Size <= 64 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16, 32 or 64 threads");

 public:
  thread_block_tile()
      : lane_group(details::first_lanes(Size) << (__lane_id() & -Size), hiptarget::thread_in_block() / Size,
                   (details::block_threads() + Size - 1) / Size) {}

  // A tile converts to one with another parent type.
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& tile) : lane_group(tile) {}

  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return __lane_id() % Size; }

  template <class T>
  T shfl(T value, int source, int line = __builtin_LINE()) const {
    return __shfl(value, source, Size, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    return __shfl_up(value, delta, Size, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    return __shfl_down(value, delta, Size, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, int line = __builtin_LINE()) const {
    return __shfl_xor(value, int(mask), Size, line);
  }
  details::Mask ballot(int predicate, int line = __builtin_LINE()) const {
    return __ballot(predicate, line) >> (__lane_id() & -Size) & details::first_lanes(Size);
  }
  int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }
};

class thread_block {
 public:
  static unsigned size() { return details::block_threads(); }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() { return hiptarget::thread_in_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static bool is_valid() { return true; }
  static void sync(int line = __builtin_LINE()) { __syncthreads(line); }
};

inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static unsigned long long size() { return num_blocks() * details::block_threads(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long thread_rank() {
    return block_rank() * details::block_threads() + hiptarget::thread_in_block();
  }
  static dim3 group_dim() { return gridDim; }
  static bool is_valid() { return hiptarget::can_sync_grid; }

  template <class Nothing = void>
  static void sync() {
    hiptarget::sync_grid<Nothing>();
  }
};

inline grid_group this_grid() { return {}; }

// Any group, for functions that accept all kinds: a whole block, or lanes of a wave.
class thread_group {
 public:
  thread_group(thread_block) {}
  thread_group(const lane_group& lanes) : lanes_(lanes.lanes()) {}

  unsigned size() const { return is_block() ? thread_block::size() : lane_group(lanes_).size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return is_block() ? thread_block::thread_rank() : lane_group(lanes_).thread_rank();
  }
  bool is_valid() const { return true; }
  void sync(int line = __builtin_LINE()) const {
    if (is_block()) __syncthreads(line);
    else __syncwarp(lanes_, line);
  }

 private:
  bool is_block() const { return lanes_ == 0; }
  details::Mask lanes_ = 0;
};

// Partitions

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

// Groups of `size` consecutive ranks of a block or of lanes.
template <class Parent>
inline coalesced_group tiled_partition(const Parent& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size;
  const unsigned tiles = (parent.size() + size - 1) / size;
  if constexpr (std::is_base_of_v<lane_group, Parent>) {
    details::Mask rest = parent.lanes(), lanes = 0;
    for (unsigned rank = 0; rest != 0; ++rank, rest &= rest - 1)
      if (rank / size == tile) lanes |= rest & -rest;
    return {lanes, tile, tiles};
  } else {
    return {details::first_lanes(size) << (__lane_id() & -size), tile, tiles};
  }
}

// The lanes of `parent` that have the same label.
template <class Parent, class Label>
inline coalesced_group labeled_partition(const Parent& parent, Label label, int line = __builtin_LINE()) {
  details::Mask same = parent.match_any(label, line), lanes = 0, rest = parent.lanes();
  for (; rest != 0; rest &= rest - 1, same >>= 1)
    if (same & 1) lanes |= rest & -rest;
  return coalesced_group(lanes);
}

template <class Parent>
inline coalesced_group binary_partition(const Parent& parent, bool predicate, int line = __builtin_LINE()) {
  return labeled_partition(parent, predicate ? 1 : 0, line);
}

// Collective operations

template <class Group>
inline void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}
template <class Group>
inline auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) {
  return group.size();
}

#define HIPSHARED_REDUCER(name, expression) \
  template <class T = void> \
  struct name { \
    T operator()(const T& a, const T& b) const { return expression; } \
  };
HIPSHARED_REDUCER(plus, a + b)
HIPSHARED_REDUCER(less, b < a ? b : a)
HIPSHARED_REDUCER(greater, a < b ? b : a)
HIPSHARED_REDUCER(bit_and, a & b)
HIPSHARED_REDUCER(bit_or, a | b)
HIPSHARED_REDUCER(bit_xor, a ^ b)
#undef HIPSHARED_REDUCER

// Every member gets the reduction of all values by `op`.
template <class Group, class T, class Op>
inline T reduce(const Group& group, T value, Op&& op, int line = __builtin_LINE()) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned delta = 1; delta < size; delta *= 2) {
    const T other = group.shfl_down(value, delta, line);
    if (rank % (2 * delta) == 0 && rank + delta < size) value = op(value, other);
  }
  return group.shfl(value, 0, line);
}

// Member i gets the reduction of the values of members 0 … i.
template <class Group, class T, class Op = plus<T>>
inline T inclusive_scan(const Group& group, T value, Op&& op = {}, int line = __builtin_LINE()) {
  const unsigned rank = group.thread_rank();
  for (unsigned delta = 1; delta < group.size(); delta *= 2) {
    const T other = group.shfl_up(value, delta, line);
    if (rank >= delta) value = op(other, value);
  }
  return value;
}

// Member i gets the reduction of the values of members 0 … i-1; member 0 gets T().
template <class Group, class T, class Op = plus<T>>
inline T exclusive_scan(const Group& group, T value, Op&& op = {}, int line = __builtin_LINE()) {
  const T through = inclusive_scan(group, value, std::forward<Op>(op), line);
  const T before = group.shfl_up(through, 1, line);
  return group.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups

HIPTARGET_HOST_DEVICE_END
