// Cooperative groups: their members and collective operations.
#include "check.h"
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

// Every member gets the sum of all; HIP has no cg::reduce.
template <class Group>
__device__ int sum_of(const Group& group, int value) {
  int sum = 0;
  for (unsigned rank = 0; rank < group.size(); ++rank) sum += group.shfl(value, rank);
  return sum;
}

template <int Size>
__global__ void tiles(int* sum, int* rank, int* group) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  const int i = block.thread_rank();
  sum[i] = sum_of(tile, i);
  rank[i] = tile.thread_rank();
  group[i] = tile.meta_group_rank() * 1000 + tile.meta_group_size();
}

template <int Size>
static void check_tiles() {
  int *sum = zeros<int>(128), *rank = zeros<int>(128), *group = zeros<int>(128);
  tiles<Size><<<1, dim3(16, 8)>>>(sum, rank, group);
  const auto s = download(sum, 128), r = download(rank, 128), g = download(group, 128);
  for (int i = 0; i < 128; ++i) {
    const int first = i / Size * Size;
    CHECK(s[i] == Size * first + Size * (Size - 1) / 2);
    CHECK(r[i] == i % Size && g[i] == i / Size * 1000 + 128 / Size);
  }
}

CASE(tiles_of_every_size) {
  check_tiles<1>();
  check_tiles<2>();
  check_tiles<4>();
  check_tiles<8>();
  check_tiles<16>();
  check_tiles<32>();
  check_tiles<64>();
}

__global__ void votes(unsigned long long* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int r = tile.thread_rank(), high = threadIdx.x >= 32;
  unsigned long long* mine = out + 8 * threadIdx.x;
  mine[0] = tile.ballot(r % 2);
  mine[1] = tile.any(high);
  mine[2] = tile.all(high);
  mine[3] = tile.match_any(r / 16);
  mine[4] = tile.shfl(r, 5) + tile.shfl_xor(r, 1) + tile.shfl_up(r, 1) + tile.shfl_down(r, 1);
  int same;
  mine[5] = tile.match_all(high, same);
  mine[6] = same;
}

CASE(votes_stay_in_their_tile) {
  unsigned long long* out = zeros<unsigned long long>(8 * 64);
  votes<<<1, 64>>>(out);
  const auto got = download(out, 8 * 64);
  const unsigned long long *low = &got[8 * 2], *high = &got[8 * 40];
  CHECK(low[0] == 0xaaaaaaaaull && low[1] == 0 && high[1] == 1 && high[2] == 1);
  CHECK(low[3] == 0xffff && low[4] == 5 + 3 + 1 + 3 && low[5] == 0xffffffffull && low[6] == 1);
}

__global__ void odd_ones(int* out) {
  out[threadIdx.x] = -1;
  if (threadIdx.x % 3 == 1) {
    const cg::coalesced_group group = cg::coalesced_threads();
    const int last = group.shfl((int)threadIdx.x, group.size() - 1);
    out[threadIdx.x] = last * 10000 + group.size() * 100 + group.thread_rank();
    if (group.shfl_up((int)threadIdx.x, 1) != (threadIdx.x == 1 ? 1 : threadIdx.x - 3)) out[threadIdx.x] = -2;
  }
}

CASE(threads_that_are_together_form_a_group) {
  int* out = zeros<int>(64);
  odd_ones<<<1, 64>>>(out);
  const auto got = download(out, 64);
  for (int i = 0; i < 64; ++i) CHECK(got[i] == (i % 3 == 1 ? 61 * 10000 + 21 * 100 + i / 3 : -1));
}

// One atomic for a whole group of lanes, as in the CUDA programming guide.
__device__ int aggregated(int* counter) {
  const auto group = cg::coalesced_threads();
  int start = 0;
  if (group.thread_rank() == 0) start = atomicAdd(counter, (int)group.size());
  return group.shfl(start, 0) + group.thread_rank();
}

__global__ void keep_positive(const int* in, int* out, int* counter, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[aggregated(counter)] = in[i];
}

CASE(filter_with_aggregated_atomics) {
  std::vector<int> in(1000), want;
  for (int i = 0; i < 1000; ++i) {
    in[i] = i % 5 - 2;
    if (in[i] > 0) want.push_back(in[i]);
  }
  int *out = zeros<int>(1000), *counter = zeros<int>(1);
  keep_positive<<<4, 256>>>(upload(in), out, counter, 1000);
  CHECK(download(counter, 1)[0] == (int)want.size());
  long sum = 0;
  for (int v : download(out, want.size())) sum += v;
  CHECK(sum == 600);
}

__global__ void halves(int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const auto half = cg::binary_partition(tile, threadIdx.x % 32 < 10);
  const auto quarter = cg::tiled_partition<8>(tile);
  out[threadIdx.x] = sum_of(half, 1) * 100 + quarter.size() + cg::this_thread().size();
}

CASE(a_predicate_cuts_a_group) {
  int* out = zeros<int>(64);
  halves<<<1, 64>>>(out);
  const auto got = download(out, 64);
  CHECK(got[0] == 1009 && got[9] == 1009 && got[30] == 2209 && got[42] == 2209 && got[41] == 1009);
}

__global__ void reductions(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __reduce_add_sync(~0ull, lane) + __reduce_max_sync(~0ull, lane) + __reduce_min_sync(~0ull, lane + 7);
  const unsigned long long odd = 0xaaaaaaaaaaaaaaaaull, even = ~odd;
  out[64 + lane] = lane % 2 ? __reduce_add_sync(odd, 1) : __reduce_max_sync(even, lane);
  out[128 + lane] = __popcll(__lanemask_lt()) * 100 + __popcll(__lanemask_gt()) + min(lane, warpSize) - max(warpSize, 3);
}

CASE(reductions_of_a_wave) {
  int* out = zeros<int>(192);
  reductions<<<1, 64>>>(out);
  const auto got = download(out, 192);
  for (int i = 0; i < 64; ++i) {
    CHECK(got[i] == 2016 + 63 + 7 && got[64 + i] == (i % 2 ? 32 : 62));
    CHECK(got[128 + i] == i * 100 + 63 - i + i - 64);
  }
}

__device__ int sum_in_memory(cg::thread_group group, int* scratch, int value) {
  const int lane = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    scratch[lane] = value;
    group.sync();
    if (lane < i) value += scratch[lane + i];
    group.sync();
  }
  return value;
}

__global__ void any_group(int* out) {
  __shared__ int scratch[128];
  const auto block = cg::this_thread_block();
  const int whole = sum_in_memory(block, scratch, 1);
  if (block.thread_rank() == 0) out[0] = whole;
  block.sync();
  const cg::thread_group tile = cg::tiled_partition(block, 32);
  const int number = block.thread_rank() / 32;
  const int part = sum_in_memory(tile, scratch + number * 32, 2);
  if (tile.thread_rank() == 0) out[1 + number] = part;
  const auto grid = cg::this_grid();
  if (grid.thread_rank() == 0) out[5] = grid.size();
  cg::sync(block);
}

CASE(a_function_takes_any_group) {
  int* out = zeros<int>(6);
  any_group<<<1, 128>>>(out);
  CHECK((download(out, 6) == std::vector<int>{128, 64, 64, 64, 64, 128}));
}
