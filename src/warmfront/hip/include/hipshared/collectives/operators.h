// Operators, and the common part of the collective operations of a block or a wave.
//
// A collective operation must be called by all threads of its block, or by all lanes of its wave that exist: the last
// wave of a block may have fewer than 64. Operators are associative; they need not be commutative, so that values are
// always combined in the order of the threads.
#pragma once

#include <hip/hip_runtime.h>

namespace hipshared::collectives {

// The line of the author's call, where lanes meet. It is not an int, so that no argument becomes one by mistake.
struct Line {
  int value;
  __device__ explicit constexpr Line(int value) : value(value) {}
};
#define HIPSHARED_LINE hipshared::collectives::Line line = hipshared::collectives::Line(__builtin_LINE())

struct Plus {
  template <class T>
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Maximum {
  template <class T>
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Minimum {
  template <class T>
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct Equal {
  template <class T>
  __host__ __device__ constexpr bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct Unequal {
  template <class T>
  __host__ __device__ constexpr bool operator()(const T& a, const T& b) const {
    return !(a == b);
  }
};

// Nothing, as the type of values that a sort does not have.
struct Nothing {};

__device__ inline unsigned linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

template <class T>
__device__ inline T shuffle(T value, unsigned lane, Line line) {
  return hiptarget::shuffle(value, lane, line.value);
}

__device__ inline void wait_for_block(Line line) { hiptarget::wait_for_block(line.value); }

}  // namespace hipshared::collectives
