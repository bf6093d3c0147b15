// Sorting keys with their values: blocks sort in shared memory, then pairs of runs are merged by ranks.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

constexpr int RUN = 256;

struct Item {
  uint32_t key;
  uint32_t value;
};

__host__ __device__ inline bool operator<(const Item &a, const Item &b) {
  return a.key < b.key || (a.key == b.key && a.value < b.value);
}

__device__ __forceinline__ void exchange(Item &a, Item &b) {
  Item kept = a;
  a = b;
  b = kept;
}

// Every phase compares an item with the one whose position differs in a single bit.
__global__ void sort_runs(Item *items) {
  __shared__ Item run[RUN];
  const unsigned me = threadIdx.x;
  run[me] = items[blockIdx.x * RUN + me];
  for (unsigned length = 2; length <= RUN; length <<= 1)
    for (unsigned bit = length >> 1; bit > 0; bit >>= 1) {
      __syncthreads();
      const unsigned other = me ^ bit;
      const bool upward = (me & length) == 0;
      if (other > me && (run[other] < run[me]) == upward) exchange(run[me], run[other]);
    }
  __syncthreads();
  items[blockIdx.x * RUN + me] = run[me];
}

// The number of items of a sorted run that precede `item`.
__device__ int rank_in(const Item *run, int length, Item item) {
  int low = 0;
  while (low < length) {
    int middle = (low + length) >> 1;
    if (run[middle] < item) low = middle + 1;
    else length = middle;
  }
  return low;
}

__global__ void merge_runs(const Item *__restrict__ from, Item *__restrict__ to, int length, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int mine = i / length, start = mine / 2 * 2 * length;
  const int other = (mine ^ 1) * length;
  const int there = other < count ? rank_in(from + other, min(length, count - other), from[i]) : 0;
  to[start + i % length + there] = from[i];
}

int main() {
  const int count = 32 * RUN;
  std::vector<Item> items(count), sorted;
  for (int i = 0; i < count; ++i) items[i] = {static_cast<uint32_t>(i * 2654435761u) >> 20, static_cast<uint32_t>(i)};
  Item *d_items, *d_other;
  hipMalloc(&d_items, count * sizeof(Item));
  hipMalloc(&d_other, count * sizeof(Item));
  hipMemcpy(d_items, items.data(), count * sizeof(Item), hipMemcpyHostToDevice);
  sort_runs<<<count / RUN, RUN>>>(d_items);
  for (int length = RUN; length < count; length <<= 1) {
    merge_runs<<<(count + 127) / 128, 128>>>(d_items, d_other, length, count);
    std::swap(d_items, d_other);
  }
  sorted.resize(count);
  hipMemcpy(sorted.data(), d_items, count * sizeof(Item), hipMemcpyDeviceToHost);
  std::sort(items.begin(), items.end());
  bool ok = std::equal(items.begin(), items.end(), sorted.begin(),
                       [](const Item &a, const Item &b) { return a.key == b.key && a.value == b.value; });
  printf("%s\n", ok ? "PASSED" : "FAILED");
  return !ok;
}
