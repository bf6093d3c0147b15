// Kernels with a second form, as loops over the threads of a block: their names begin with `loops_`. Those that begin with
// `threads_` must not have one. Every result is compared with that of a plain computation.
#include "check.h"

#define WIDTH 16
constexpr int kBlock = 128;

__device__ int own_place() { return threadIdx.x + blockDim.x * threadIdx.y; }
__device__ void wait_here() { __syncthreads(); }

// A guard, and a loop with the same bounds for all threads.
__global__ void loops_multiply(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

// The same with the condition around the rest of the kernel.
__global__ void loops_multiply_inside(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  int row = blockIdx.y * WIDTH + threadIdx.y, column = blockIdx.x * WIDTH + threadIdx.x;
  if (row < rows && column < columns) {
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < depth; k++) {
      const float factor = a[row * depth + k];
      sum += factor * b[k * columns + column];
    }
    c[row * columns + column] = sum;
  }
}

template <int kTile>
__global__ void loops_multiply_tiled(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  __shared__ float left[kTile][kTile + 1];
  __shared__ float right[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * kTile + ty;
  int column = blockIdx.x * kTile + tx;
  float sum = 0.f;
  for (int tile = 0; tile < (depth + kTile - 1) / kTile; ++tile) {
    const int k = tile * kTile;
    left[ty][tx] = row < rows && k + tx < depth ? a[row * depth + k + tx] : 0.f;
    if (k + ty < depth && column < columns)
      right[ty][tx] = b[(k + ty) * columns + column];
    else
      right[ty][tx] = 0.f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += left[ty][i] * right[i][tx];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

template <class Launch>
static bool multiplies(int rows, int columns, int depth, Launch launch) {
  const auto a = noise(rows * depth, 1), b = noise(depth * columns, 2);
  float* c = zeros<float>(rows * columns);
  launch(upload(a), upload(b), c, dim3((columns + 15) / 16, (rows + 15) / 16));
  const auto got = download(c, rows * columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < depth; ++k) sum += double(a[i * depth + k]) * b[k * columns + j];
      if (std::fabs(got[i * columns + j] - sum) > 1e-3) return false;
    }
  return true;
}

CASE(products_of_matrices) {
  for (const int n : {1, 16, 33, 64}) {
    const int rows = n, columns = n + 7, depth = n + 3;
    const dim3 block(16, 16);
    CHECK(multiplies(rows, columns, depth, [&](auto a, auto b, auto c, dim3 grid) {
      loops_multiply<<<grid, block>>>(a, b, c, rows, columns, depth);
    }));
    CHECK(multiplies(rows, columns, depth, [&](auto a, auto b, auto c, dim3 grid) {
      loops_multiply_inside<<<grid, block>>>(a, b, c, rows, columns, depth);
    }));
    CHECK(multiplies(rows, columns, depth, [&](auto a, auto b, auto c, dim3 grid) {
      loops_multiply_tiled<16><<<grid, block>>>(a, b, c, rows, columns, depth);
    }));
  }
}

// Loops with a stride, by counters of several types.
template <class T>
__global__ void loops_add(const T* x, T* out, size_t n, int from) {
  __shared__ T partial[kBlock];
  const int thread = threadIdx.x;
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  for (int i = threadIdx.x + from; i < (int)n; i += kBlock) {
    if (i >= 0 && blockIdx.x == 0) sum += x[i];
  }
  partial[thread] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half >>= 1) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread != 0) return;
  atomicAdd(out, partial[0]);
}

CASE(sums_with_a_stride) {
  for (const int n : {0, 1, 127, 128, 1000, 4096})
    for (const int from : {0, 5, -5}) {
      std::vector<int> x(n + 1);
      long long all = 0, late = 0;
      for (int i = 0; i < n; ++i) {
        all += x[i] = i * 7 % 23;
        if (i >= from) late += x[i];
      }
      int* out = zeros<int>(1);
      loops_add<int><<<3, kBlock>>>(upload(x), out, n, from);
      CHECK(download(out, 1)[0] == 3 * all + late);
    }
}

// Private arrays, several declarators, names that are declared twice, branches that all threads take alike.
__global__ void loops_mixed(int* out, int n, bool twice) {
  extern __shared__ int shared[];
  const unsigned mixed = threadIdx.x * 2654435761u >> 7;
  int left = threadIdx.x - 1, right = threadIdx.x + 1, kept[3] = {0}, place;
  int value = out[blockIdx.x * blockDim.x + threadIdx.x];
  place = own_place();
  shared[place] = value;
  __syncthreads();
  kept[1] = left >= 0 ? shared[left] : -1;
  kept[2] = right < n ? shared[right] : -2;
  if (twice) {
    __syncthreads();
    shared[threadIdx.x] = kept[1] + kept[2];
    int value = kept[0];
    __syncthreads();
    kept[0] = value + shared[n - 1 - threadIdx.x];
  } else {
    int value = 3;
    __syncthreads();
    kept[0] = value;
  }
  for (int round = 0; round < 3; ++round) {
    int next = shared[(place + 1) % n];
    __syncthreads();
    shared[place] = next;
    __syncthreads();
  }
  {
    const int value = shared[place];
    kept[1] += value;
  }
  auto twofold = [&](int x) { return 2 * x; };
  out[blockIdx.x * blockDim.x + threadIdx.x] = value + twofold(kept[0]) + kept[1] * kept[2] + int(mixed % 5);
}

static std::vector<int> mix(std::vector<int> values, int n, bool twice) {
  std::vector<int> result;
  for (size_t block = 0; block < values.size() / n; ++block) {
    std::vector<int> own(values.begin() + block * n, values.begin() + (block + 1) * n), one(n), two(n), zero(n);
    std::vector<int> shared = own;
    for (int t = 0; t < n; ++t) one[t] = t ? own[t - 1] : -1, two[t] = t + 1 < n ? own[t + 1] : -2;
    if (twice)
      for (int t = 0; t < n; ++t) shared[t] = one[t] + two[t];
    for (int t = 0; t < n; ++t) zero[t] = twice ? shared[n - 1 - t] : 3;
    for (int t = 0; t < n; ++t) one[t] += shared[(t + 3) % n];
    for (int t = 0; t < n; ++t) result.push_back(own[t] + 2 * zero[t] + one[t] * two[t] + int((t * 2654435761u >> 7) % 5));
  }
  return result;
}

CASE(variables_on_both_sides_of_a_barrier) {
  for (const int n : {1, 64, 100, 1024})
    for (const bool twice : {false, true}) {
      std::vector<int> values(2 * n);
      for (int i = 0; i < 2 * n; ++i) values[i] = i * 37 % 101;
      int* out = upload(values);
      loops_mixed<<<2, n, n * sizeof(int)>>>(out, n, twice);
      CHECK(download(out, 2 * n) == mix(values, n, twice));
    }
}

// Shuffles of whole and partial waves, in blocks of several dimensions.
__global__ void loops_shuffle(const int* in, int* out, int width) {
  const int place = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int value = in[place];
  int down = __shfl_down(value, 3), up = __shfl_up(value, 2, width);
  value += __shfl_xor(value, 5) + 1000 * __shfl(value, place / 2, width);
  for (int offset = 32; offset > 0; offset >>= 1) value += __shfl_down(value, offset);
  out[place] = value + 7 * down + 11 * up;
}

__global__ void threads_shuffle(const int* in, int* out, volatile int width) {
  const int place = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int value = in[place];
  int down = __shfl_down(value, 3), up = __shfl_up(value, 2, width);
  value += __shfl_xor(value, 5) + 1000 * __shfl(value, place / 2, width);
  for (int offset = 32; offset > 0; offset >>= 1) value += __shfl_down(value, offset);
  out[place] = value + 7 * down + 11 * up;
}

CASE(shuffles) {
  for (const dim3 block : {dim3(64), dim3(100), dim3(5, 7, 3), dim3(256)})
    for (const int width : {64, 32, 8}) {
      const int n = block.x * block.y * block.z;
      std::vector<int> in(n);
      for (int i = 0; i < n; ++i) in[i] = i * i % 97;
      int *one = zeros<int>(n), *two = zeros<int>(n);
      loops_shuffle<<<1, block>>>(upload(in), one, width);
      threads_shuffle<<<1, block>>>(upload(in), two, width);
      CHECK(download(one, n) == download(two, n));
    }
}

// A branch that is known when it is compiled, and variables of a class type.
template <bool kTwice, class T>
__global__ void loops_constant(T* values) {
  __shared__ T shared[kBlock];
  T value = values[threadIdx.x];
  float4 four = {1, 2, 3, 4};
  if constexpr (kTwice) {
    shared[threadIdx.x] = value + value;
    __syncthreads();
  } else {
    shared[threadIdx.x] = value;
    __syncthreads();
  }
  values[threadIdx.x] = shared[threadIdx.x ^ 1] + T(four.z);
}

CASE(templates) {
  std::vector<double> values(kBlock), once(kBlock), twice(kBlock);
  for (int i = 0; i < kBlock; ++i) values[i] = i, once[i] = (i ^ 1) + 3, twice[i] = 2 * (i ^ 1) + 3;
  double *a = upload(values), *b = upload(values);
  loops_constant<false><<<1, kBlock>>>(a);
  loops_constant<true, double><<<1, kBlock>>>(b);
  CHECK(download(a, kBlock) == once);
  CHECK(download(b, kBlock) == twice);
}

// Forms that are left as they are: the loop depends on the thread, a function waits, a parameter changes.
__global__ void threads_uneven(int* out) {
  for (int i = 0; i < int(threadIdx.x); ++i) __syncthreads();
  out[threadIdx.x] = threadIdx.x;
}
__global__ void threads_call(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  wait_here();
  out[threadIdx.x] = shared[63 - threadIdx.x];
}
__global__ void threads_moved(int* out, int n) {
  __shared__ int shared[64];
  out += threadIdx.x;
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  *out = shared[n - threadIdx.x];
}
__global__ void threads_while(int* out) {
  int i = 0;
  while (i < 3) {
    __syncthreads();
    if (threadIdx.x == 0) out[i] = i;
    ++i;
  }
}
__global__ void threads_break(int* out, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (out[i] != i) break;
    __syncthreads();
    out[64 + threadIdx.x] = i;
  }
}

CASE(kernels_that_are_left_as_they_are) {
  std::vector<int> places(64), reversed(64);
  for (int i = 0; i < 64; ++i) places[i] = i, reversed[i] = 63 - i;
  int *a = zeros<int>(64), *b = zeros<int>(64), *c = zeros<int>(64), *d = zeros<int>(128);
  threads_uneven<<<1, 64>>>(a);
  threads_call<<<1, 64>>>(b);
  threads_moved<<<1, 64>>>(c, 63);
  threads_while<<<1, 64>>>(d);
  threads_break<<<1, 64>>>(d, 9);
  CHECK(download(a, 64) == places);
  CHECK(download(b, 64) == reversed);
  CHECK(download(c, 64) == reversed);
  CHECK(download(d, 128)[127] == 2);
}
