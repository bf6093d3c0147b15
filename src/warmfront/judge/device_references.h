// The references of the built-in problems on the device, in double: the harness checks every timed call with them.
//
// They are simple, not fast, and use no shared memory and no barriers. A reference computes the expected values of the
// output. tests/integration/judge/test_device_references.py compares each of them with the reference in
// NumPy, and an output that one of them rejects is checked again on the host before it becomes a verdict.
//
// Products of matrices with several hundred operations per byte would take a hundred times as long as the timed call.
// In a timed call, one row out of eight is checked, chosen by a secret key after the call: a kernel that omits one row
// in a hundred is detected in most calls, of which there are hundreds. A check of correctness checks all rows.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "slot_kernels.h"

namespace references {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

// Each slice of a reduction is summed by this many threads; each thread adds its part to the sum of the slice.
constexpr uint64_t kParts = 64;

// Device memory that is kept until the next plan, by purpose.
class Scratch {
 public:
  double* doubles(size_t purpose, uint64_t count) {
    if (purpose >= memory_.size()) memory_.resize(purpose + 1);
    Piece& piece = memory_[purpose];
    const uint64_t bytes = count * sizeof(double);
    if (bytes > piece.bytes) {
      if (piece.memory != nullptr) (void)hipFree(piece.memory);
      piece = {nullptr, 0};
      if (hipMalloc(&piece.memory, bytes) != hipSuccess) {
        failed_ = true;
        piece.memory = nullptr;
        return nullptr;
      }
      piece.bytes = bytes;
    }
    return static_cast<double*>(piece.memory);
  }

  double* zeros(size_t purpose, uint64_t count) {
    double* memory = doubles(purpose, count);
    if (memory != nullptr) (void)hipMemsetAsync(memory, 0, count * sizeof(double), nullptr);
    return memory;
  }

  bool failed() const { return failed_; }

  void release() {
    for (Piece& piece : memory_)
      if (piece.memory != nullptr) (void)hipFree(piece.memory);
    memory_.clear();
    failed_ = false;
  }

 private:
  struct Piece {
    void* memory;
    uint64_t bytes;
  };
  std::vector<Piece> memory_;
  bool failed_ = false;
};

// A tensor of float or, with `half`, of __half.
struct Tensor {
  const void* data;
  uint64_t count;
  bool half;
};

__device__ inline double at(const Tensor& tensor, uint64_t i) {
  return tensor.half ? static_cast<double>(__half2float(static_cast<const __half*>(tensor.data)[i]))
                     : static_cast<double>(static_cast<const float*>(tensor.data)[i]);
}

// The rows of an output that are checked: of every `share` rows, one that the secret key decides. With a share of 1,
// all rows are.
struct Rows {
  uint64_t count;
  uint64_t length;
  uint64_t share;
  uint64_t key;

  uint64_t checked() const { return (count + share - 1) / share; }

  __device__ uint64_t row(uint64_t i) const {
    uint64_t hash = (key ^ i) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
    hash ^= hash >> 29;
    const uint64_t first = i * share, left = count - first;
    return first + hash % (left < share ? left : share);
  }
};

// One call of `solution`: its tensors, and the values of its other parameters in their order.
struct Call {
  std::vector<Tensor> inputs;
  Tensor output;
  std::vector<double> numbers;
  Scratch* scratch;
  Rows rows;  // for a reference that computes some rows only

  uint64_t size(size_t number) const { return static_cast<uint64_t>(numbers[number]); }
};

// ---- One result per element ----

__global__ void relu_kernel(Tensor x, double* expected) {
  FOR_EACH(i, x.count) expected[i] = at(x, i) > 0 ? at(x, i) : 0.0;
}

void relu(const Call& call, double* expected) { LAUNCH(relu_kernel, call.output.count, call.inputs[0], expected); }

__global__ void leaky_relu_kernel(Tensor x, double alpha, double* expected) {
  FOR_EACH(i, x.count) expected[i] = at(x, i) > 0 ? at(x, i) : alpha * at(x, i);
}

void leaky_relu(const Call& call, double* expected) {
  LAUNCH(leaky_relu_kernel, call.output.count, call.inputs[0], call.numbers[0], expected);
}

__global__ void vector_addition_kernel(Tensor a, Tensor b, double* expected) {
  FOR_EACH(i, a.count) expected[i] = at(a, i) + at(b, i);
}

void vector_addition(const Call& call, double* expected) {
  LAUNCH(vector_addition_kernel, call.output.count, call.inputs[0], call.inputs[1], expected);
}

__global__ void conv_2d_kernel(Tensor image, Tensor kernel, int64_t height, int64_t width, int64_t rows,
                               int64_t columns, double* expected) {
  FOR_EACH(i, static_cast<uint64_t>(height * width)) {
    const int64_t y = static_cast<int64_t>(i) / width, x = static_cast<int64_t>(i) % width;
    double sum = 0;
    for (int64_t p = 0; p < rows; ++p)
      for (int64_t q = 0; q < columns; ++q) {
        const int64_t from_y = y + p - rows / 2, from_x = x + q - columns / 2;
        if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
        sum += at(image, static_cast<uint64_t>(from_y * width + from_x)) *
               at(kernel, static_cast<uint64_t>(p * columns + q));
      }
    expected[i] = sum;
  }
}

void conv_2d(const Call& call, double* expected) {
  auto extent = [&call](size_t number) { return static_cast<int64_t>(call.size(number)); };
  LAUNCH(conv_2d_kernel, call.output.count, call.inputs[0], call.inputs[1], extent(0), extent(1), extent(2), extent(3),
         expected);
}

// Each thread computes 4 x 4 elements of C, so that it loads each value of A and B for four products.
__global__ void matrix_multiplication_kernel(Tensor a, Tensor b, uint64_t m, uint64_t n, uint64_t k, double* expected) {
  const uint64_t tiles_per_row = (n + 3) / 4;
  FOR_EACH(tile, (m + 3) / 4 * tiles_per_row) {
    const uint64_t top = tile / tiles_per_row * 4, left = tile % tiles_per_row * 4;
    double sums[4][4] = {};
    for (uint64_t l = 0; l < k; ++l) {
      double row[4], column[4];
      for (uint64_t y = 0; y < 4; ++y) row[y] = at(a, (top + y < m ? top + y : m - 1) * k + l);
      for (uint64_t x = 0; x < 4; ++x) column[x] = at(b, l * n + (left + x < n ? left + x : n - 1));
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) sums[y][x] += row[y] * column[x];
    }
    for (uint64_t y = 0; y < 4 && top + y < m; ++y)
      for (uint64_t x = 0; x < 4 && left + x < n; ++x) expected[(top + y) * n + left + x] = sums[y][x];
  }
}

void matrix_multiplication(const Call& call, double* expected) {
  const uint64_t m = call.size(0), n = call.size(1), k = call.size(2);
  LAUNCH(matrix_multiplication_kernel, (m + 3) / 4 * ((n + 3) / 4), call.inputs[0], call.inputs[1], m, n, k, expected);
}

// ---- One result per slice ----

// The slices of a tensor along one dimension: element `j` of slice `s` is at (s / inner * length + j) * inner +
// s % inner.
struct Slices {
  uint64_t count;
  uint64_t length;
  uint64_t inner;
};

// The part of a slice for thread `i` of count * kParts. Neighboring threads read neighboring elements.
struct Part {
  uint64_t slice;
  uint64_t first;
};

__device__ inline Part part_of(uint64_t i, const Slices& slices) {
  if (slices.inner > 1) return {i % slices.count, i / slices.count};
  return {i / kParts, i % kParts};
}

__device__ inline uint64_t index_in(const Slices& slices, uint64_t slice, uint64_t j) {
  return (slice / slices.inner * slices.length + j) * slices.inner + slice % slices.inner;
}

__global__ void sum_slices_kernel(Tensor x, Slices slices, double* sums) {
  FOR_EACH(i, slices.count * kParts) {
    const Part part = part_of(i, slices);
    double sum = 0;
    for (uint64_t j = part.first; j < slices.length; j += kParts) sum += at(x, index_in(slices, part.slice, j));
    atomicAdd(&sums[part.slice], sum);
  }
}

// dim, the extents, and their number, as in the signatures of `sum-dim` and `softmax`.
Slices slices_of(const Call& call) {
  const size_t dim = call.size(0), count = call.size(call.numbers.size() - 1);
  Slices slices{1, call.size(1 + dim), 1};
  for (size_t axis = 0; axis < count; ++axis)
    if (axis != dim) slices.count *= call.size(1 + axis);
  for (size_t axis = dim + 1; axis < count; ++axis) slices.inner *= call.size(1 + axis);
  return slices;
}

void sum_dim(const Call& call, double* expected) {
  const Slices slices = slices_of(call);
  (void)hipMemsetAsync(expected, 0, slices.count * sizeof(double), nullptr);
  LAUNCH(sum_slices_kernel, slices.count * kParts, call.inputs[0], slices, expected);
}

__global__ void matrix_vector_kernel(Tensor a, Tensor b, Slices rows, double* sums) {
  FOR_EACH(i, rows.count * kParts) {
    const Part part = part_of(i, rows);
    double sum = 0;
    for (uint64_t j = part.first; j < rows.length; j += kParts) sum += at(a, index_in(rows, part.slice, j)) * at(b, j);
    atomicAdd(&sums[part.slice], sum);
  }
}

void matrix_vector(const Call& call, double* expected) {
  const Slices rows{call.size(0), call.size(1), 1};
  (void)hipMemsetAsync(expected, 0, rows.count * sizeof(double), nullptr);
  LAUNCH(matrix_vector_kernel, rows.count * kParts, call.inputs[0], call.inputs[1], rows, expected);
}

// ---- Softmax ----

// An integer with the same order as the float, greater than 0 for every number.
__device__ inline unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ inline double from_ordered(unsigned order) {
  return static_cast<double>(__uint_as_float((order & 0x80000000u) != 0 ? order & 0x7FFFFFFFu : ~order));
}

__global__ void largest_kernel(Tensor x, Slices slices, unsigned* largest) {
  FOR_EACH(i, slices.count * kParts) {
    const Part part = part_of(i, slices);
    unsigned order = 0;
    for (uint64_t j = part.first; j < slices.length; j += kParts) {
      const unsigned other = ordered(static_cast<float>(at(x, index_in(slices, part.slice, j))));
      order = other > order ? other : order;
    }
    atomicMax(&largest[part.slice], order);
  }
}

__global__ void weights_kernel(Tensor x, Slices slices, const unsigned* largest, double* sums, double* expected) {
  FOR_EACH(i, slices.count * kParts) {
    const Part part = part_of(i, slices);
    double sum = 0;
    for (uint64_t j = part.first; j < slices.length; j += kParts) {
      const uint64_t index = index_in(slices, part.slice, j);
      expected[index] = exp(at(x, index) - from_ordered(largest[part.slice]));
      sum += expected[index];
    }
    atomicAdd(&sums[part.slice], sum);
  }
}

__global__ void divide_kernel(Slices slices, const double* sums, double* expected) {
  FOR_EACH(i, slices.count * slices.length)
  expected[i] /= sums[i / (slices.inner * slices.length) * slices.inner + i % slices.inner];
}

void softmax(const Call& call, double* expected) {
  const Slices slices = slices_of(call);
  double* sums = call.scratch->zeros(1, slices.count);
  auto* largest = reinterpret_cast<unsigned*>(call.scratch->zeros(2, slices.count));
  if (call.scratch->failed()) return;
  LAUNCH(largest_kernel, slices.count * kParts, call.inputs[0], slices, largest);
  LAUNCH(weights_kernel, slices.count * kParts, call.inputs[0], slices, largest, sums, expected);
  LAUNCH(divide_kernel, call.output.count, slices, sums, expected);
}

// ---- Layer normalization ----

__global__ void squares_kernel(Tensor x, Slices slices, const double* sums, double* squares) {
  FOR_EACH(i, slices.count * kParts) {
    const Part part = part_of(i, slices);
    const double mean = sums[part.slice] / static_cast<double>(slices.length);
    double sum = 0;
    for (uint64_t j = part.first; j < slices.length; j += kParts) {
      const double centered = at(x, index_in(slices, part.slice, j)) - mean;
      sum += centered * centered;
    }
    atomicAdd(&squares[part.slice], sum);
  }
}

__global__ void normalize_kernel(Tensor x, Tensor gamma, Tensor beta, uint64_t length, const double* sums,
                                 const double* squares, double* expected) {
  FOR_EACH(i, x.count) {
    const auto n = static_cast<double>(length);
    const double deviation = sqrt(squares[i / length] / n + kLayerNormEpsilon);
    expected[i] = (at(x, i) - sums[i / length] / n) / deviation * at(gamma, i % length) + at(beta, i % length);
  }
}

void layer_norm(const Call& call, double* expected) {
  const Slices samples{call.size(0), call.size(1) * call.size(2) * call.size(3), 1};
  double* sums = call.scratch->zeros(1, samples.count);
  double* squares = call.scratch->zeros(2, samples.count);
  if (call.scratch->failed()) return;
  LAUNCH(sum_slices_kernel, samples.count * kParts, call.inputs[0], samples, sums);
  LAUNCH(squares_kernel, samples.count * kParts, call.inputs[0], samples, sums, squares);
  LAUNCH(normalize_kernel, call.output.count, call.inputs[0], call.inputs[1], call.inputs[2], samples.length, sums,
         squares, expected);
}

// ---- Cumulative sum ----

constexpr uint64_t kChunk = 256;

__global__ void sum_chunks_kernel(Tensor x, const double* values, uint64_t count, double* sums) {
  FOR_EACH(chunk, (count + kChunk - 1) / kChunk) {
    double sum = 0;
    for (uint64_t i = chunk * kChunk; i < count && i < (chunk + 1) * kChunk; ++i)
      sum += values != nullptr ? values[i] : at(x, i);
    sums[chunk] = sum;
  }
}

// Adds the sum of all preceding chunks, which `starts` has as an inclusive sum. `values` may be `sums`.
__global__ void scan_chunks_kernel(Tensor x, const double* values, uint64_t count, const double* starts, double* sums) {
  FOR_EACH(chunk, (count + kChunk - 1) / kChunk) {
    double sum = chunk > 0 ? starts[chunk - 1] : 0.0;
    for (uint64_t i = chunk * kChunk; i < count && i < (chunk + 1) * kChunk; ++i) {
      sum += values != nullptr ? values[i] : at(x, i);
      sums[i] = sum;
    }
  }
}

// Writes the inclusive sums of `values`, or of `x` if there are none.
void scan(const Tensor& x, const double* values, uint64_t count, double* sums, Scratch& scratch, size_t level) {
  const uint64_t chunks = (count + kChunk - 1) / kChunk;
  double* starts = scratch.doubles(level, chunks);
  if (starts == nullptr) return;
  LAUNCH(sum_chunks_kernel, chunks, x, values, count, starts);
  if (chunks > 1) scan(x, starts, chunks, starts, scratch, level + 1);
  LAUNCH(scan_chunks_kernel, chunks, x, values, count, static_cast<const double*>(starts), sums);
}

void cumsum(const Call& call, double* expected) {
  scan(call.inputs[0], nullptr, call.inputs[0].count, expected, *call.scratch, 1);
}

// ---- Histogram ----

constexpr uint64_t kCopies = 256;  // copies of the counts, so that threads seldom wait for one another

__global__ void count_kernel(Tensor pixels, uint64_t bins, unsigned* counts) {
  FOR_EACH(i, pixels.count) {
    const double value = at(pixels, i);
    if (value >= 0 && value < static_cast<double>(bins))
      atomicAdd(&counts[blockIdx.x % kCopies * bins + static_cast<uint64_t>(value)], 1u);
  }
}

__global__ void add_counts_kernel(uint64_t bins, const unsigned* counts, double* expected) {
  FOR_EACH(bin, bins) {
    double sum = 0;
    for (uint64_t copy = 0; copy < kCopies; ++copy) sum += counts[copy * bins + bin];
    expected[bin] = sum;
  }
}

void histogram(const Call& call, double* expected) {
  const uint64_t bins = call.size(0);
  auto* counts = reinterpret_cast<unsigned*>(call.scratch->zeros(1, (kCopies * bins + 1) / 2));
  if (counts == nullptr) return;
  LAUNCH(count_kernel, call.inputs[0].count, call.inputs[0], bins, counts);
  LAUNCH(add_counts_kernel, bins, bins, static_cast<const unsigned*>(counts), expected);
}

// ---- Products of matrices that take long: a part of the rows ----

// The value of a code of e4m3 fnuz, which is not NaN: a float has the same order of sign, exponent and mantissa.
__device__ inline double decode_fp8(uint32_t code) {
  const float magnitude = __uint_as_float((code & 0x7Fu) << 20) * 0x1p119f;
  return static_cast<double>((code & 0x80u) != 0 ? -magnitude : magnitude);
}

constexpr uint64_t kScaleWords = 32, kScaleColumns = 128;

// Each thread computes four elements of a row.
__global__ void fp8_matmul_kernel(const uint32_t* a, const uint32_t* b, Tensor a_scale, Tensor b_scale, uint64_t n,
                                  uint64_t words, Rows rows, uint64_t checked, double* expected) {
  const uint64_t tiles = (n + 3) / 4, blocks = (words + kScaleWords - 1) / kScaleWords;
  FOR_EACH(i, checked * tiles) {
    const uint64_t row = rows.row(i / tiles), left = i % tiles * 4;
    double totals[4] = {};
    for (uint64_t block = 0; block < blocks; ++block) {
      const uint64_t from = block * kScaleWords, to = from + kScaleWords < words ? from + kScaleWords : words;
      double sums[4] = {};
      for (uint64_t w = from; w < to; ++w) {
        const uint32_t ours = a[row * words + w];
        uint32_t theirs[4];
        for (uint64_t x = 0; x < 4; ++x) theirs[x] = b[(left + x < n ? left + x : n - 1) * words + w];
        for (int shift = 0; shift < 32; shift += 8) {
          const double value = decode_fp8(ours >> shift & 0xFFu);
          for (int x = 0; x < 4; ++x) sums[x] += value * decode_fp8(theirs[x] >> shift & 0xFFu);
        }
      }
      const double scale = at(a_scale, row * blocks + block);
      for (uint64_t x = 0; x < 4; ++x) {
        const uint64_t column = left + x < n ? left + x : n - 1;
        totals[x] += sums[x] * scale * at(b_scale, column / kScaleColumns * blocks + block);
      }
    }
    for (uint64_t x = 0; x < 4 && left + x < n; ++x) expected[i / tiles * n + left + x] = totals[x];
  }
}

void fp8_matmul(const Call& call, double* expected) {
  const uint64_t n = call.size(1), checked = call.rows.checked();
  LAUNCH(fp8_matmul_kernel, checked * ((n + 3) / 4), static_cast<const uint32_t*>(call.inputs[0].data),
         static_cast<const uint32_t*>(call.inputs[1].data), call.inputs[2], call.inputs[3], n, call.size(2), call.rows,
         checked, expected);
}

// The scores of `count` rows of queries from `first` on; each thread computes four of a row.
__global__ void scores_kernel(Tensor q, Tensor k, uint64_t n, uint64_t d, Rows rows, uint64_t first, uint64_t count,
                              double* scores) {
  const uint64_t tiles = (n + 3) / 4;
  const double scale = 1 / sqrt(static_cast<double>(d));
  FOR_EACH(i, count * tiles) {
    const uint64_t row = rows.row(first + i / tiles), keys = row / n * n, left = i % tiles * 4;
    double sums[4] = {};
    for (uint64_t l = 0; l < d; ++l) {
      const double query = at(q, row * d + l);
      for (uint64_t x = 0; x < 4; ++x) sums[x] += query * at(k, (keys + (left + x < n ? left + x : n - 1)) * d + l);
    }
    for (uint64_t x = 0; x < 4 && left + x < n; ++x) scores[i / tiles * n + left + x] = sums[x] * scale;
  }
}

__global__ void largest_score_kernel(const double* scores, uint64_t n, uint64_t count, unsigned* largest) {
  FOR_EACH(i, count * kParts) {
    unsigned order = 0;
    for (uint64_t j = i % kParts; j < n; j += kParts) {
      const unsigned other = ordered(static_cast<float>(scores[i / kParts * n + j]));
      order = other > order ? other : order;
    }
    atomicMax(&largest[i / kParts], order);
  }
}

__global__ void score_weights_kernel(uint64_t n, uint64_t count, const unsigned* largest, double* scores, double* sums) {
  FOR_EACH(i, count * kParts) {
    const double shift = from_ordered(largest[i / kParts]);
    double sum = 0;
    for (uint64_t j = i % kParts; j < n; j += kParts) {
      double& score = scores[i / kParts * n + j];
      score = exp(score - shift);
      sum += score;
    }
    atomicAdd(&sums[i / kParts], sum);
  }
}

__global__ void weighted_values_kernel(Tensor v, uint64_t n, uint64_t d, Rows rows, uint64_t first, uint64_t count,
                                       const double* weights, const double* sums, double* expected) {
  const uint64_t tiles = (d + 3) / 4;
  FOR_EACH(i, count * tiles) {
    const uint64_t local = i / tiles, keys = rows.row(first + local) / n * n, left = i % tiles * 4;
    double totals[4] = {};
    for (uint64_t j = 0; j < n; ++j) {
      const double weight = weights[local * n + j];
      for (uint64_t x = 0; x < 4; ++x) totals[x] += weight * at(v, (keys + j) * d + (left + x < d ? left + x : d - 1));
    }
    for (uint64_t x = 0; x < 4 && left + x < d; ++x)
      expected[(first + local) * d + left + x] = totals[x] / sums[local];
  }
}

constexpr uint64_t kScores = uint64_t{1} << 25;  // in memory at a time

void attention(const Call& call, double* expected) {
  const uint64_t n = call.size(1), d = call.size(2), checked = call.rows.checked();
  const uint64_t chunk = kScores / n < 1 ? 1 : kScores / n < checked ? kScores / n : checked;
  double* scores = call.scratch->doubles(1, chunk * n);
  for (uint64_t first = 0; first < checked; first += chunk) {
    const uint64_t count = first + chunk < checked ? chunk : checked - first;
    double* sums = call.scratch->zeros(2, chunk);
    auto* largest = reinterpret_cast<unsigned*>(call.scratch->zeros(3, chunk));
    if (call.scratch->failed()) return;
    LAUNCH(scores_kernel, count * ((n + 3) / 4), call.inputs[0], call.inputs[1], n, d, call.rows, first, count, scores);
    LAUNCH(largest_score_kernel, count * kParts, static_cast<const double*>(scores), n, count, largest);
    LAUNCH(score_weights_kernel, count * kParts, n, count, static_cast<const unsigned*>(largest), scores, sums);
    LAUNCH(weighted_values_kernel, count * ((d + 3) / 4), call.inputs[2], n, d, call.rows, first, count,
           static_cast<const double*>(scores), static_cast<const double*>(sums), expected);
  }
}

uint64_t columns_of_product(const Call& call) { return call.size(1); }
uint64_t extent_of_head(const Call& call) { return call.size(2); }

// ---- Comparison ----

__global__ void count_wrong_kernel(Tensor output, const double* expected, double rtol, double atol,
                                   unsigned long long* wrong) {
  unsigned long long count = 0;
  FOR_EACH(i, output.count) {
    const double got = at(output, i), want = expected[i];
    // NaN compares as wrong. The host decides about expected infinities.
    count += !(fabs(got - want) <= atol + rtol * fabs(want));
  }
  if (count != 0) atomicAdd(wrong, count);
}

__global__ void count_wrong_rows_kernel(Tensor output, Rows rows, uint64_t checked, const double* expected, double rtol,
                                        double atol, unsigned long long* wrong) {
  unsigned long long count = 0;
  FOR_EACH(i, checked * rows.length) {
    const double got = at(output, rows.row(i / rows.length) * rows.length + i % rows.length), want = expected[i];
    count += !(fabs(got - want) <= atol + rtol * fabs(want));
  }
  if (count != 0) atomicAdd(wrong, count);
}

// ---- Sort: ascending, and the same numbers ----

__device__ inline uint64_t hash_of(int32_t value, uint64_t key) {
  uint64_t hash = (key ^ static_cast<uint32_t>(value)) * 0x9E3779B97F4A7C15ull;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
  hash = (hash ^ hash >> 29) * (key | 1);
  return hash ^ hash >> 32;
}

__global__ void count_descents_kernel(const int32_t* values, uint64_t count, unsigned long long* wrong) {
  unsigned long long descents = 0;
  FOR_EACH(i, count - 1) descents += values[i] > values[i + 1];
  if (descents != 0) atomicAdd(wrong, descents);
}

__global__ void add_hashes_kernel(const int32_t* values, uint64_t count, uint64_t key, unsigned long long* sum) {
  unsigned long long part = 0;
  FOR_EACH(i, count) part += hash_of(values[i], key);
  atomicAdd(sum, part);
}

__global__ void compare_sums_kernel(const unsigned long long* sums, unsigned long long* wrong) {
  if (sums[0] != sums[1]) *wrong += 1;
}

void count_wrong_order(const Call& call, uint64_t key, unsigned long long* wrong) {
  auto* sums = reinterpret_cast<unsigned long long*>(call.scratch->zeros(1, 2));
  if (sums == nullptr) return;
  const uint64_t count = call.output.count;
  const auto* input = static_cast<const int32_t*>(call.inputs[0].data);
  const auto* output = static_cast<const int32_t*>(call.output.data);
  LAUNCH(count_descents_kernel, count, output, count, wrong);
  LAUNCH(add_hashes_kernel, count, input, count, key, sums);
  LAUNCH(add_hashes_kernel, count, output, count, key, sums + 1);
  hipLaunchKernelGGL(compare_sums_kernel, dim3(1), dim3(1), 0, nullptr, static_cast<const unsigned long long*>(sums),
                     wrong);
}

// ---- Dispatch ----

struct Reference {
  const char* slug;
  void (*compute)(const Call& call, double* expected);
  uint64_t (*row_length)(const Call& call) = nullptr;  // if it computes the rows of `call.rows`
};

constexpr Reference kReferences[] = {
    {"attention", attention, extent_of_head},
    {"conv-2d", conv_2d},
    {"cumsum", cumsum},
    {"fp8-matmul", fp8_matmul, columns_of_product},
    {"histogram", histogram},
    {"layer-norm", layer_norm},
    {"leaky-relu", leaky_relu},
    {"matrix-multiplication", matrix_multiplication},
    {"matrix-vector", matrix_vector},
    {"relu", relu},
    {"softmax", softmax},
    {"sum-dim", sum_dim},
    {"vector-addition", vector_addition},
};

constexpr char kSort[] = "array-sort";

inline const Reference* find(const char* slug) {
  for (const Reference& reference : kReferences)
    if (std::strcmp(slug, reference.slug) == 0) return &reference;
  return nullptr;
}

inline bool exists(const char* slug) { return std::strcmp(slug, kSort) == 0 || find(slug) != nullptr; }

// Adds the number of wrong elements of the output to `wrong`. `key` is secret and random. References that take long
// check one of every `share` rows.
inline hipError_t count_wrong(const char* slug, Call call, double rtol, double atol, uint64_t key, uint64_t share,
                              unsigned long long* wrong) {
  if (std::strcmp(slug, kSort) == 0) {
    count_wrong_order(call, key, wrong);
    return call.scratch->failed() ? hipErrorOutOfMemory : hipGetLastError();
  }
  const Reference* reference = find(slug);
  if (reference == nullptr) return hipErrorInvalidValue;
  const uint64_t length = reference->row_length != nullptr ? reference->row_length(call) : 1;
  call.rows = {call.output.count / length, length, reference->row_length != nullptr ? share : 1, key};
  const uint64_t checked = call.rows.checked();
  double* expected = call.scratch->doubles(0, checked * length);
  if (expected == nullptr) return hipErrorOutOfMemory;
  reference->compute(call, expected);
  if (call.scratch->failed()) return hipErrorOutOfMemory;
  if (reference->row_length != nullptr)
    LAUNCH(count_wrong_rows_kernel, checked * length, call.output, call.rows, checked,
           static_cast<const double*>(expected), rtol, atol, wrong);
  else
    LAUNCH(count_wrong_kernel, call.output.count, call.output, static_cast<const double*>(expected), rtol, atol, wrong);
  return hipGetLastError();
}

}  // namespace
}  // namespace references
