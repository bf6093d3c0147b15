// Cooperative groups: a block, tiles of a wave, the lanes that are active together, and the whole grid.
//
// They have the members of ROCm 7. HIP has no cg::reduce, no scans and no labeled_partition.
// Everything but the barrier of a grid is built on the barriers, votes and shuffles of hipshared/wave.h, and takes
// its caller's line as those do. The target provides hiptarget::thread_in_block, hiptarget::sync_grid and
// hiptarget::can_sync_grid.
#pragma once

#include <hip/hip_runtime.h>

HIPTARGET_HOST_DEVICE_BEGIN

namespace cooperative_groups {

class thread_group;

namespace details {

using Mask = unsigned long long;

inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned long long blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
inline unsigned long long block_rank() {
  return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
}

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

#define HIPSHARED_CHECK_GROUP_VALUE(T) static_assert(hipshared::can_shuffle<T>, "a group shuffles numbers only")
// In ROCm 6.4 groups do not shuffle the 16-bit floating-point types.
#define HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) HIPTARGET_NEEDS_ROCM_7_IF(!std::is_arithmetic_v<T>)

// Lanes of one wave: the base of tiles and coalesced groups.
class LaneGroup {
 public:
  unsigned size() const { return __popcll(lanes_); }
  unsigned num_threads() const HIPTARGET_NEEDS_ROCM_7 { return size(); }
  unsigned thread_rank() const { return __popcll(lanes_ & first_lanes(__lane_id())); }
  bool is_valid() const { return true; }
  void sync(int line = __builtin_LINE()) const { __syncwarp(lanes_, line); }

  template <class T>
  T shfl(T value, int source, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    HIPSHARED_CHECK_GROUP_VALUE(T);
    return hiptarget::shuffle(value, lane_of(lanes_, unsigned(source) % size()), line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank < delta ? rank : rank - delta), line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank + delta < size() ? rank + delta : rank), line);
  }

  Mask ballot(int predicate, int line = __builtin_LINE()) const { return compress(__ballot(predicate, line), lanes_); }
  int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }

  template <class T>
  Mask match_any(T value, int line = __builtin_LINE()) const {
    HIPSHARED_CHECK_MATCH(T);
    Mask same = 0;
    for (unsigned rank = 0; rank < size(); ++rank)
      if (shfl(value, int(rank), line) == value) same |= 1ull << rank;
    return same;
  }
  template <class T>
  Mask match_all(T value, int& holds, int line = __builtin_LINE()) const {
    HIPSHARED_CHECK_MATCH(T);
    holds = all(shfl(value, 0, line) == value, line);
    return holds ? first_lanes(size()) : 0;
  }

  // The index of this group among those that its parent was divided into.
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 protected:
  explicit LaneGroup(Mask lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lanes_(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  friend cooperative_groups::thread_group;
  friend struct Partition;
  Mask lanes_;
  unsigned meta_rank_;
  unsigned meta_size_;
};

struct Partition;

}  // namespace details

class coalesced_group : public details::LaneGroup {
 private:
  friend details::Partition;
  friend coalesced_group coalesced_threads(int line);
  using LaneGroup::LaneGroup;
};

// The active lanes.
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) { return coalesced_group(__activemask(line)); }

// `Size` adjacent lanes of a wave. Its shuffles are those of the wave and need no mask.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::LaneGroup {
  static_assert(Size > 0 && Size <= 64 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16, 32 or 64 threads");

 public:
  // A tile converts to one with another parent type.
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& tile) : LaneGroup(tile) {}

  static unsigned size() { return Size; }
  static unsigned num_threads() HIPTARGET_NEEDS_ROCM_7 { return Size; }
  unsigned thread_rank() const { return __lane_id() % Size; }

  template <class T>
  T shfl(T value, int source, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    HIPSHARED_CHECK_GROUP_VALUE(T);
    return __shfl(value, source, Size, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    HIPSHARED_CHECK_GROUP_VALUE(T);
    return __shfl_up(value, delta, Size, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    HIPSHARED_CHECK_GROUP_VALUE(T);
    return __shfl_down(value, delta, Size, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, int line = __builtin_LINE()) const HIPSHARED_NUMBERS_BEFORE_ROCM_7(T) {
    HIPSHARED_CHECK_GROUP_VALUE(T);
    return __shfl_xor(value, int(mask), Size, line);
  }
  details::Mask ballot(int predicate, int line = __builtin_LINE()) const {
    return __ballot(predicate, line) >> (__lane_id() & -Size) & details::first_lanes(Size);
  }
  int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }

 private:
  friend details::Partition;
  thread_block_tile()
      : LaneGroup(details::first_lanes(Size) << (__lane_id() & -Size), hiptarget::thread_in_block() / Size,
                  (details::block_threads() + Size - 1) / Size) {}
};

class thread_block {
 public:
  static unsigned size() { return details::block_threads(); }
  static unsigned num_threads() HIPTARGET_NEEDS_ROCM_7 { return size(); }
  static unsigned thread_rank() { return hiptarget::thread_in_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static bool is_valid() { return true; }
  static void sync(int line = __builtin_LINE()) { __syncthreads(line); }
};

inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static unsigned size() { return static_cast<unsigned>(details::blocks() * details::block_threads()); }
  static unsigned num_threads() HIPTARGET_NEEDS_ROCM_7 { return size(); }
  static unsigned thread_rank() {
    return static_cast<unsigned>(details::block_rank() * details::block_threads() + hiptarget::thread_in_block());
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
  thread_group(const details::LaneGroup& group) : lanes_(group.lanes_) {}

  unsigned size() const { return is_block() ? thread_block::size() : __popcll(lanes_); }
  unsigned num_threads() const HIPTARGET_NEEDS_ROCM_7 { return size(); }
  unsigned thread_rank() const {
    return is_block() ? thread_block::thread_rank() : __popcll(lanes_ & details::first_lanes(__lane_id()));
  }
  bool is_valid() const { return true; }
  void sync(int line = __builtin_LINE()) const {
    if (is_block()) __syncthreads(line);
    else __syncwarp(lanes_, line);
  }

 private:
  friend details::Partition;
  bool is_block() const { return lanes_ == 0; }
  details::Mask lanes_ = 0;
};

// Partitions

namespace details {

struct Partition {
  template <unsigned Size, class Parent>
  static thread_block_tile<Size, Parent> tile() {
    return {};
  }
  static coalesced_group lane() { return coalesced_group(__lanemask_eq()); }

  // Groups of `size` consecutive ranks: of a block, then of the lanes of a group.
  static coalesced_group of_block(unsigned size) {
    return coalesced_group(first_lanes(size) << (__lane_id() & -size), thread_block::thread_rank() / size,
                           (thread_block::size() + size - 1) / size);
  }
  static coalesced_group of_lanes(const LaneGroup& parent, unsigned size) {
    const unsigned tile = parent.thread_rank() / size;
    Mask rest = parent.lanes_, lanes = 0;
    for (unsigned rank = 0; rest != 0; ++rank, rest &= rest - 1)
      if (rank / size == tile) lanes |= rest & -rest;
    return coalesced_group(lanes, tile, (parent.size() + size - 1) / size);
  }
  static thread_group of_group(const thread_group& parent, unsigned size) {
    return parent.is_block() ? of_block(size) : of_lanes(coalesced_group(parent.lanes_), size);
  }

  // The lanes of `parent` for which the predicate has the value that it has for this lane.
  static coalesced_group of_value(const LaneGroup& parent, bool predicate, int line) {
    const Mask votes = __ballot(predicate, line);
    return coalesced_group(parent.lanes_ & (predicate ? votes : ~votes));
  }
};

}  // namespace details

template <unsigned Size>
inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return details::Partition::tile<Size, thread_block>();
}
template <unsigned Size, unsigned ParentSize, class Parent>
inline thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>&) HIPTARGET_NEEDS_ROCM_7 {
  static_assert(Size <= ParentSize, "a tile is no larger than the tile that it is part of");
  return details::Partition::tile<Size, thread_block_tile<ParentSize, Parent>>();
}
inline thread_group tiled_partition(const thread_block&, unsigned size) { return details::Partition::of_block(size); }
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  return details::Partition::of_group(parent, size);
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  return details::Partition::of_lanes(parent, size);
}

inline coalesced_group binary_partition(const coalesced_group& parent, bool predicate, int line = __builtin_LINE()) {
  return details::Partition::of_value(parent, predicate, line);
}
template <unsigned Size, class Parent>
inline coalesced_group binary_partition(const thread_block_tile<Size, Parent>& parent, bool predicate,
                                        int line = __builtin_LINE()) {
  return details::Partition::of_value(parent, predicate, line);
}

// This thread alone.
inline thread_group this_thread() { return details::Partition::lane(); }

// Functions of any group

template <class Group>
inline void sync(const Group& group, int line = __builtin_LINE()) {
  if constexpr (requires { group.sync(line); }) group.sync(line);
  else group.sync();
}
template <class Group>
inline unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline unsigned group_size(const Group& group) {
  return group.size();
}
template <class Group>
inline bool is_valid(const Group& group) {
  return group.is_valid();
}

}  // namespace cooperative_groups

HIPTARGET_HOST_DEVICE_END
