// Barriers, for uniform and for divergent threads.
#include "check.h"

template <int Tile>
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[Tile][Tile];
  __shared__ float tile_b[Tile][Tile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * Tile + y, column = blockIdx.x * Tile + x;
  float sum = 0;
  for (int from = 0; from < k; from += Tile) {
    tile_a[y][x] = row < m && from + x < k ? a[row * k + from + x] : 0;
    tile_b[y][x] = column < n && from + y < k ? b[(from + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < Tile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

template <int Tile>
static bool multiplies(int m, int n, int k) {
  const std::vector<float> a = noise(m * k, 1), b = noise(k * n, 2);
  float* c = zeros<float>(m * n);
  multiply<Tile><<<dim3((n + Tile - 1) / Tile, (m + Tile - 1) / Tile), dim3(Tile, Tile)>>>(upload(a), upload(b), c,
                                                                                           m, n, k);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(a[i * k + l]) * b[l * n + j];
      expected[i * n + j] = float(sum);
    }
  return near(download(c, m * n), expected, 1e-5f);
}

CASE(tiled_multiplication_of_any_size) {
  CHECK(multiplies<16>(64, 64, 64));
  CHECK(multiplies<16>(1, 1, 1));
  CHECK(multiplies<16>(33, 17, 71));
  CHECK(multiplies<8>(31, 9, 50));
  CHECK(multiplies<32>(40, 70, 33));
}

__global__ void sum_by_tree(const int* in, int* out, int count) {
  __shared__ int partial[256];
  const int thread = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + thread; i < count; i += gridDim.x * blockDim.x) sum += in[i];
  partial[thread] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread == 0) atomicAdd(out, partial[0]);
}

CASE(a_sum_by_a_tree) {
  std::vector<int> in(100003);
  long expected = 0;
  for (size_t i = 0; i < in.size(); ++i) expected += in[i] = int(i % 17) - 5;
  int* out = zeros<int>(1);
  sum_by_tree<<<37, 256>>>(upload(in), out, int(in.size()));
  CHECK(download(out, 1)[0] == expected);
}

// threadIdx must be that of the thread after any wait, in any function.
__noinline__ __device__ int place() { return threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z; }

__global__ void stay_in_place(int* wrong) {
  const int before = place();
  for (int i = 0; i < 5; ++i) {
    __syncthreads();
    if (place() != before || blockDim.x != 5 || blockDim.y != 7 || blockDim.z != 3) atomicAdd(wrong, 1);
  }
  if (blockIdx.x + 2 * blockIdx.y >= gridDim.x * gridDim.y) atomicAdd(wrong, 1);
}

CASE(a_thread_keeps_its_place) {
  int* wrong = zeros<int>(1);
  stay_in_place<<<dim3(2, 3), dim3(5, 7, 3)>>>(wrong);
  CHECK(download(wrong, 1)[0] == 0);
}

// Threads for which `stays` is false end before the barrier; the others reverse their values in a ring.
template <class Stays>
__global__ void leave_early(int* out, Stays stays) {
  __shared__ int shared[256];
  const int thread = threadIdx.x;
  shared[thread] = -1;
  __syncthreads();
  if (!stays(thread)) return;
  shared[thread] = thread;
  for (int round = 0; round < 3; ++round) {
    __syncthreads();
    const int other = shared[255 - thread];
    __syncthreads();
    if (stays(255 - thread)) shared[thread] = other;
  }
  out[thread] = shared[thread];
}

template <class Stays>
static bool reverses(Stays stays) {
  int* out = upload(std::vector<int>(256, -2));
  leave_early<<<1, 256>>>(out, stays);
  const std::vector<int> got = download(out, 256);
  for (int i = 0; i < 256; ++i) {
    const int expected = !stays(i) ? -2 : stays(255 - i) ? 255 - i : i;
    if (got[i] != expected) return false;
  }
  return true;
}

CASE(threads_that_end_before_others_wait) {
  CHECK(reverses([](int) { return true; }));
  CHECK(reverses([](int thread) { return thread < 100; }));
  CHECK(reverses([](int thread) { return thread >= 100; }));
  CHECK(reverses([](int thread) { return thread % 3 == 0; }));
  CHECK(reverses([](int thread) { return thread < 64 || thread >= 192; }));
  CHECK(reverses([](int thread) { return thread == 255; }));
}

__global__ void first_wait_of_a_late_thread(int* out) {
  __shared__ int shared[128];
  if (threadIdx.x < 70) return;
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = shared[197 - threadIdx.x];
}

CASE(the_first_threads_end_without_waiting) {
  int* out = zeros<int>(128);
  first_wait_of_a_late_thread<<<3, 128>>>(out);
  const std::vector<int> got = download(out, 128);
  for (int i = 70; i < 128; ++i) CHECK(got[i] == 197 - i);
}

__global__ void count_threads(int* counts, int* all, int* any, int live) {
  const int thread = threadIdx.x;
  if (thread >= live) return;
  const int c1 = __syncthreads_count(thread % 3 == 0);
  const int c2 = __syncthreads_count(1);
  const int a1 = __syncthreads_and(thread < live), a2 = __syncthreads_and(thread != 5);
  const int o1 = __syncthreads_or(thread == 7), o2 = __syncthreads_or(0);
  counts[thread] = c1 * 1000 + c2;
  all[thread] = a1 * 2 + a2;
  any[thread] = o1 * 2 + o2;
}

CASE(barriers_that_count) {
  for (const int live : {200, 150}) {
    int *counts = zeros<int>(200), *all = zeros<int>(200), *any = zeros<int>(200);
    count_threads<<<2, 200>>>(counts, all, any, live);
    CHECK(download(counts, live) == std::vector<int>(live, (live + 2) / 3 * 1000 + live));
    CHECK(download(all, live) == std::vector<int>(live, 2));
    CHECK(download(any, live) == std::vector<int>(live, 2));
  }
}

__global__ void wait_on_both_sides(int* out) {
  __shared__ int shared[128];
  const int thread = threadIdx.x;
  shared[thread] = thread;
  if (thread % 2) {
    __syncthreads();
    out[thread] = shared[127 - thread];
  } else {
    __syncthreads();
    out[thread] = -shared[127 - thread];
  }
  __syncthreads();
  out[thread] += shared[thread];
}

CASE(barriers_on_both_sides_of_a_branch) {
  int* out = zeros<int>(128);
  wait_on_both_sides<<<1, 128>>>(out);
  const std::vector<int> got = download(out, 128);
  for (int i = 0; i < 128; ++i) CHECK(got[i] == (i % 2 ? 127 - i : i - 127) + i);
}

__global__ void private_arrays(int* out) {
  int mine[500];
  for (int i = 0; i < 500; ++i) mine[i] = threadIdx.x * i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 500; ++i) sum += mine[(i * 7) % 500];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

CASE(private_memory_lives_through_barriers) {
  int* out = zeros<int>(4096);
  private_arrays<<<4, 1024>>>(out);
  const std::vector<int> got = download(out, 4096);
  for (int i = 0; i < 4096; ++i) CHECK(got[i] == i % 1024 * (499 * 250));
}

__device__ unsigned blocks_done;

__global__ void last_block(const int* in, int* partial, int* out, int count) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) total += ((volatile int*)partial)[block];
  *out = total;
}

CASE(the_last_block_adds_up) {
  std::vector<int> in(10000, 3);
  int* out = zeros<int>(1);
  last_block<<<79, 128>>>(upload(in), zeros<int>(79), out, 10000);
  CHECK(download(out, 1)[0] == 30000);
}

__global__ void one_thread(int* out) {
  __syncthreads();
  *out += 1 + __syncthreads_count(1);
}

CASE(a_block_of_one_thread) {
  int* out = zeros<int>(1);
  one_thread<<<1, 1>>>(out);
  CHECK(download(out, 1)[0] == 2);
}

// Kernels with and without barriers alternate on the same workers.
CASE(one_kernel_after_another) {
  std::vector<int> in(1000, 1);
  int* from = upload(in);
  int* out = zeros<int>(1);
  for (int i = 0; i < 200; ++i) {
    sum_by_tree<<<1 + i % 5, 256>>>(from, out, 1000);
    one_thread<<<1, 1>>>(out);
  }
  CHECK(download(out, 1)[0] == 200 * 1000 + 200 * 2);
}
