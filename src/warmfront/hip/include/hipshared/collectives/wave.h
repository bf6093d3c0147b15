// Reductions and scans of the lanes of a wave, or of groups of kWidth lanes.
#pragma once

#include <hipshared/collectives/operators.h>

namespace hipshared::collectives {

// The lanes of a group are numbered from 0; a group at the end of a block may have fewer than kWidth.
template <unsigned kWidth>
struct Group {
  static_assert(kWidth >= 1 && kWidth <= 64, "a wave of an MI300X has 64 lanes");
  // A group whose width is not a power of two ends where the wave does.
  unsigned lane, first, count;

  __device__ explicit Group(unsigned threads) {
    const unsigned in_wave = __lane_id();
    const unsigned thread = linear_thread();
    const unsigned in_block = threads - (thread - in_wave);  // lanes of this wave that exist
    const unsigned lanes = in_block < 64 ? in_block : 64;
    first = in_wave / kWidth * kWidth;
    lane = in_wave - first;
    count = lanes - first < kWidth ? lanes - first : kWidth;
  }
};

__device__ inline unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }

// Combines the values of the first `valid` lanes of a group; lane 0 gets the result.
template <unsigned kWidth, class T, class Op>
__device__ inline T reduce_group(T value, Op op, unsigned valid, Line line) {
  const Group<kWidth> group(threads_in_block());
  const unsigned count = valid < group.count ? valid : group.count;
#pragma unroll
  for (unsigned distance = 1; distance < kWidth; distance *= 2) {
    const unsigned other = group.lane + distance;
    const T theirs = shuffle(value, group.first + (other < group.count ? other : group.lane), line);
    // Only every second, fourth … lane has a whole part of the result; combining in the others does no harm.
    if (other < count) value = op(value, theirs);
  }
  return value;
}

// Combines the values of the lanes up to this one.
template <unsigned kWidth, class T, class Op>
__device__ inline T scan_group(T value, Op op, Line line) {
  const Group<kWidth> group(threads_in_block());
#pragma unroll
  for (unsigned distance = 1; distance < kWidth; distance *= 2) {
    const unsigned source = group.lane >= distance ? group.lane - distance : group.lane;
    const T theirs = shuffle(value, group.first + source, line);
    if (group.lane >= distance) value = op(theirs, value);
  }
  return value;
}

// The value of the lane before this one; lane 0 gets its own.
template <unsigned kWidth, class T>
__device__ inline T from_previous(T value, Line line) {
  const Group<kWidth> group(threads_in_block());
  return shuffle(value, group.first + (group.lane ? group.lane - 1 : 0), line);
}

// The value of the last lane of the group.
template <unsigned kWidth, class T>
__device__ inline T from_last(T value, Line line) {
  const Group<kWidth> group(threads_in_block());
  return shuffle(value, group.first + group.count - 1, line);
}

template <unsigned kWidth, class T>
__device__ inline T from_lane(T value, unsigned lane, Line line) {
  const Group<kWidth> group(threads_in_block());
  return shuffle(value, group.first + lane, line);
}

}  // namespace hipshared::collectives
