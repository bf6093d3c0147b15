// Operations of the 64 lanes of a wave.
#include "check.h"

__device__ int wave_sum(int value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  return value;
}

__global__ void sum_by_shuffles(const int* in, int* out, int count) {
  __shared__ int partial[16];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += in[i];
  sum = wave_sum(sum);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x >= warpSize) return;
  sum = wave_sum(threadIdx.x < blockDim.x / warpSize ? partial[threadIdx.x] : 0);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

CASE(a_sum_by_shuffles) {
  std::vector<int> in(100003);
  long expected = 0;
  for (size_t i = 0; i < in.size(); ++i) expected += in[i] = int(i % 23) - 7;
  for (const int threads : {64, 128, 256, 1024}) {
    int* out = zeros<int>(1);
    sum_by_shuffles<<<21, threads>>>(upload(in), out, int(in.size()));
    CHECK(download(out, 1)[0] == expected);
  }
}

template <class T>
__global__ void all_shuffles(T* out, int width) {
  const int lane = threadIdx.x;
  const T mine = T(lane * 3 + 1);
  out[0 * 64 + lane] = __shfl(mine, 5, width);
  out[1 * 64 + lane] = __shfl(mine, lane + 9, width);
  out[2 * 64 + lane] = __shfl_up(mine, 3, width);
  out[3 * 64 + lane] = __shfl_down(mine, 3, width);
  out[4 * 64 + lane] = __shfl_xor(mine, 5, width);
  out[5 * 64 + lane] = __shfl_down_sync(~0ull, mine, 1, width);
}

// The lane that each of the six reads.
static int source(int which, int lane, int width) {
  const int group = lane / width * width, within = lane % width;
  switch (which) {
    case 0: return group + 5 % width;
    case 1: return group + (lane + 9) % width;
    case 2: return within >= 3 ? lane - 3 : lane;
    case 3: return within + 3 < width ? lane + 3 : lane;
    case 4: return (lane ^ 5) < group + width ? lane ^ 5 : lane;
    default: return within + 1 < width ? lane + 1 : lane;
  }
}

template <class T>
static bool shuffles() {
  for (const int width : {64, 32, 16, 4}) {
    T* out = zeros<T>(6 * 64);
    all_shuffles<<<1, 64>>>(out, width);
    const std::vector<T> got = download(out, 6 * 64);
    for (int i = 0; i < 6 * 64; ++i)
      if (got[i] != T(source(i / 64, i % 64, width) * 3 + 1)) return false;
  }
  return true;
}

CASE(every_shuffle_of_every_type) {
  CHECK(shuffles<int>());
  CHECK(shuffles<unsigned>());
  CHECK(shuffles<float>());
  CHECK(shuffles<double>());
  CHECK(shuffles<long long>());
  CHECK(shuffles<unsigned char>());
  CHECK(shuffles<short>());
}

__global__ void half_waves(int* out) {
  int value = threadIdx.x;
  if (threadIdx.x % 64 < 32) {
    for (int offset = 16; offset; offset /= 2) value += __shfl_down(value, offset, 32);
  } else {
    for (int offset = 16; offset; offset /= 2) value += __shfl_xor(value, offset, 32);
  }
  out[threadIdx.x] = value;
  __syncthreads();
  out[threadIdx.x] += __shfl(value, 63);
}

CASE(lanes_on_two_sides_of_a_branch) {
  int* out = zeros<int>(128);
  half_waves<<<1, 128>>>(out);
  const std::vector<int> got = download(out, 128);
  const int last = (32 + 63) * 16;
  CHECK(got[0] == 31 * 16 + last);
  for (int i = 32; i < 64; ++i) CHECK(got[i] == last + last);
  CHECK(got[64] == (64 + 95) * 16 + (96 + 127) * 16);
}

__global__ void votes(unsigned long long* out) {
  const int thread = threadIdx.x;
  const unsigned long long odd = __ballot(thread % 2);
  unsigned long long inside = 0;
  if (thread % 64 < 20) inside = __activemask();
  out[thread * 4] = odd;
  out[thread * 4 + 1] = inside;
  out[thread * 4 + 2] = __any(thread == 70) * 2 + __any(thread == 500);
  out[thread * 4 + 3] = __all(thread < 128) * 2 + __all(thread != 3);
}

CASE(votes_and_masks) {
  unsigned long long* out = zeros<unsigned long long>(128 * 4);
  votes<<<1, 128>>>(out);
  const auto got = download(out, 128 * 4);
  for (int i = 0; i < 128; ++i) {
    CHECK(got[i * 4] == 0xaaaaaaaaaaaaaaaaull);
    CHECK(got[i * 4 + 1] == (i % 64 < 20 ? 0xfffffull : 0));
    CHECK(got[i * 4 + 2] == (i < 64 ? 0u : 2u));
    CHECK(got[i * 4 + 3] == (i < 64 ? 2u : 3u));
  }
}

__global__ void part_of_a_wave(int* out, unsigned long long* mask) {
  const int thread = threadIdx.x;
  mask[thread] = __ballot(1);
  out[thread] = __shfl_down(thread + 1, 1);
}

CASE(a_wave_that_is_not_full) {
  int* out = zeros<int>(100);
  unsigned long long* mask = zeros<unsigned long long>(100);
  part_of_a_wave<<<1, 100>>>(out, mask);
  const auto got = download(out, 100);
  const auto masks = download(mask, 100);
  CHECK(masks[0] == ~0ull && masks[99] == (1ull << 36) - 1);
  CHECK(got[0] == 2 && got[63] == 64 && got[98] == 100);
  CHECK(got[99] == 0);  // its neighbor does not exist
}

__global__ void from_outside(int* out) {
  out[threadIdx.x] = -1;
  if (threadIdx.x < 20) out[threadIdx.x] = __shfl_down(int(threadIdx.x) + 1, 16);
}

CASE(a_lane_that_takes_no_part_gives_zero) {
  int* out = zeros<int>(64);
  from_outside<<<1, 64>>>(out);
  const auto got = download(out, 64);
  CHECK(got[0] == 17 && got[3] == 20 && got[4] == 0 && got[19] == 0 && got[20] == -1);
}

__global__ void scan(const int* in, int* out, int count) {
  __shared__ int totals[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  int value = i < count ? in[i] : 0;
  for (int offset = 1; offset < 64; offset *= 2) {
    const int other = __shfl_up(value, offset);
    if (lane >= offset) value += other;
  }
  if (lane == 63) totals[wave] = value;
  __syncthreads();
  for (int w = 0; w < wave; ++w) value += totals[w];
  if (i < count) out[i] = value;
}

CASE(a_running_sum_over_waves) {
  std::vector<int> in(1000), expected(1000);
  for (int i = 0; i < 1000; ++i) expected[i] = (in[i] = i % 7 - 2) + (i ? expected[i - 1] : 0);
  int* out = zeros<int>(1000);
  scan<<<1, 1024>>>(upload(in), out, 1000);
  CHECK(download(out, 1000) == expected);
}

// Waves of one block that shuffle a different number of times, and lanes that end early.
__global__ void uneven(int* out) {
  const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
  int value = lane;
  for (int i = 0; i <= wave; ++i) value = __shfl_xor(value, 1) + 1;
  if (wave == 1 && lane >= 32) return;
  for (int i = 0; i < 3 - wave; ++i) value = __shfl(value, lane & 31) + 1;
  out[threadIdx.x] = value;
}

CASE(waves_that_differ) {
  int* out = upload(std::vector<int>(256, -1));
  uneven<<<5, 256>>>(out);
  const auto got = download(out, 256);
  for (int i = 0; i < 256; ++i) {
    const int wave = i / 64, lane = i % 64, turns = wave + 1;
    const auto after_first = [&](int l) { return (turns % 2 ? l ^ 1 : l) + turns; };
    int expected = after_first(lane);
    if (wave < 3) expected = after_first(lane & 31) + 3 - wave;
    if (wave == 1 && lane >= 32) expected = -1;
    CHECK(got[i] == expected);
  }
}

__global__ void barrier_and_wave(int* out) {
  __shared__ int shared[256];
  const int thread = threadIdx.x;
  int value = thread;
  for (int round = 0; round < 4; ++round) {
    shared[thread] = value;
    __syncthreads();
    value = shared[(thread + 64) % 256];
    if (thread < 64) value += __shfl_xor(value, 32);
    __syncthreads();
    value += __shfl_down(value, 1);
    if (thread >= 100) value -= __any(thread == 101);
  }
  out[thread] = value;
}

static std::vector<int> barrier_and_wave_on_the_host() {
  std::vector<int> value(256), before;
  for (int i = 0; i < 256; ++i) value[i] = i;
  for (int round = 0; round < 4; ++round) {
    before = value;
    for (int i = 0; i < 256; ++i) value[i] = before[(i + 64) % 256];
    before = value;
    for (int i = 0; i < 64; ++i) value[i] += before[i ^ 32];
    before = value;
    for (int i = 0; i < 256; ++i) value[i] += before[i % 64 == 63 ? i : i + 1];
    for (int i = 100; i < 128; ++i) value[i] -= 1;
  }
  return value;
}

CASE(barriers_and_shuffles_in_turn) {
  int* out = zeros<int>(256);
  barrier_and_wave<<<3, 256>>>(out);
  CHECK(download(out, 256) == barrier_and_wave_on_the_host());
}

__global__ void lanes_of_a_plane(int* out) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  out[thread] = __shfl_down(thread, 16) * 100 + __lane_id();
}

CASE(lanes_count_x_first) {
  int* out = zeros<int>(128);
  lanes_of_a_plane<<<1, dim3(16, 8)>>>(out);
  const auto got = download(out, 128);
  for (int i = 0; i < 128; ++i) CHECK(got[i] == (i % 64 < 48 ? i + 16 : i) * 100 + i % 64);
}

__global__ void wave_barrier(int* out) {
  __shared__ int shared[128];
  shared[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = shared[threadIdx.x ^ 63];
}

CASE(a_barrier_of_a_wave) {
  int* out = zeros<int>(128);
  wave_barrier<<<1, 128>>>(out);
  const auto got = download(out, 128);
  for (int i = 0; i < 128; ++i) CHECK(got[i] == (i ^ 63));
}

// Relies on lockstep: no barrier, but volatile memory, which the compiler must not cache.
__device__ void sum_in_step(volatile int* sums, int lane) {
  sums[lane] += sums[lane + 32];
  sums[lane] += sums[lane + 16];
  sums[lane] += sums[lane + 8];
  sums[lane] += sums[lane + 4];
  sums[lane] += sums[lane + 2];
  sums[lane] += sums[lane + 1];
}

__global__ void sum_of_the_last_wave(int* out) {
  __shared__ int sums[128];
  const int thread = threadIdx.x;
  sums[thread] = thread * thread;
  __syncthreads();
  if (thread < 64) sums[thread] += sums[thread + 64];
  __syncthreads();
  if (thread < 32) sum_in_step(sums, thread);
  if (thread == 0) out[0] = sums[0];
}

// Lanes read what lower lanes write in the same statement.
__global__ void scan_in_step(int* out) {
  __shared__ volatile int sums[64];
  const int lane = threadIdx.x;
  sums[lane] = lane + 1;
  for (int step = 1; step < 64; step *= 2)
    if (lane >= step) sums[lane] += sums[lane - step];
  out[lane] = sums[lane];
}

CASE(lanes_in_step_through_volatile_memory) {
  int* sum = zeros<int>(1);
  sum_of_the_last_wave<<<1, 128>>>(sum);
  CHECK(download(sum, 1)[0] == 127 * 128 * 255 / 6);
  int* out = zeros<int>(64);
  scan_in_step<<<1, 64>>>(out);
  const auto got = download(out, 64);
  for (int i = 0; i < 64; ++i) CHECK(got[i] == (i + 1) * (i + 2) / 2);
}

__global__ void matches(unsigned long long* out) {
  const int thread = threadIdx.x;
  int all = 0;
  out[thread * 3] = __match_any(thread % 3);
  out[thread * 3 + 1] = __match_all(thread / 64, &all);
  out[thread * 3 + 2] = all;
  __match_all(thread / 100, &all);
  out[thread * 3 + 2] += 2 * all;
}

CASE(lanes_with_the_same_value) {
  unsigned long long* out = zeros<unsigned long long>(128 * 3);
  matches<<<1, 128>>>(out);
  const auto got = download(out, 128 * 3);
  for (int i = 0; i < 128; ++i) {
    unsigned long long same = 0;
    for (int lane = 0; lane < 64; ++lane) same |= (unsigned long long)((i / 64 * 64 + lane) % 3 == i % 3) << lane;
    CHECK(got[i * 3] == same);
    CHECK(got[i * 3 + 1] == ~0ull);
    CHECK(got[i * 3 + 2] == (i < 64 ? 3u : 1u));
  }
}
