// hipCUB's and rocPRIM's operations on blocks of many sizes. argv[1] is a folder with `input`, numbers that all blocks
// use; the program writes one file of results per operation and size, and a test compares them with NumPy.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>

// host
#include <cstdio>
#include <string>
#include <vector>
// end of host

constexpr int kItems = 3;

// A product of matrices ((a, b), (0, 1)), which is associative and not commutative.
struct Affine {
  unsigned a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const { return {f.a * g.a, f.a * g.b + f.b}; }
};

struct AddBefore {
  int running;
  __device__ int operator()(int total) {
    const int before = running;
    running += total;
    return before;
  }
};

template <int kThreads>
__global__ void reduce(const int* x, int* out) {
  using Block = hipcub::BlockReduce<int, kThreads>;
  __shared__ typename Block::TempStorage storage;
  const int t = threadIdx.x;
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = x[t * kItems + i];
  const int sum = Block(storage).Sum(items);
  __syncthreads();
  const int largest = Block(storage).Reduce(x[t], hipcub::Max());
  __syncthreads();
  const int some = Block(storage).Sum(x[t], (kThreads + 1) / 2);
  if (t == 0) out[0] = sum, out[1] = largest, out[2] = some;
  using Arg = hipcub::BlockReduce<hipcub::KeyValuePair<int, int>, kThreads, hipcub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Arg::TempStorage arg_storage;
  const auto least = Arg(arg_storage).Reduce(hipcub::KeyValuePair<int, int>(t, x[t]), hipcub::ArgMin());
  if (t == 0) out[3] = least.key, out[4] = least.value;
  rocprim::block_reduce<float, kThreads> other;
  __shared__ typename rocprim::block_reduce<float, kThreads>::storage_type other_storage;
  float total;
  other.reduce(static_cast<float>(x[t]), total, other_storage);
  if (t == 0) out[5] = static_cast<int>(total);
  float least_of_all;
  other.reduce(static_cast<float>(x[t]), least_of_all, rocprim::minimum<float>());
  if (t == 0) out[6] = static_cast<int>(least_of_all);
}

template <int kThreads>
__global__ void scan(const int* x, int* out) {
  using Block = hipcub::BlockScan<int, kThreads, hipcub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Block::TempStorage storage;
  const int t = threadIdx.x, n = kThreads;
  int one, total, items[kItems], sums[kItems];
  Block(storage).ExclusiveSum(x[t] & 1, one, total);
  out[t] = one;
  if (t == n - 1) out[8 * n * kItems] = total;
  __syncthreads();
  for (int i = 0; i < kItems; ++i) items[i] = x[t * kItems + i];
  Block(storage).InclusiveSum(items, sums);
  for (int i = 0; i < kItems; ++i) out[n * kItems + t * kItems + i] = sums[i];
  __syncthreads();
  Block(storage).ExclusiveScan(items, sums, -2000, hipcub::Max());
  for (int i = 0; i < kItems; ++i) out[2 * n * kItems + t * kItems + i] = sums[i];
  __syncthreads();
  AddBefore prefix{100};
  Block(storage).ExclusiveSum(items, items, prefix);
  for (int i = 0; i < kItems; ++i) out[3 * n * kItems + t * kItems + i] = items[i];
  using Functions = hipcub::BlockScan<Affine, kThreads>;
  __shared__ typename Functions::TempStorage function_storage;
  Affine f{static_cast<unsigned>(x[t]) * 2 + 1, static_cast<unsigned>(t)};
  Functions(function_storage).InclusiveScan(f, f, Compose());
  out[4 * n * kItems + 2 * t] = static_cast<int>(f.a);
  out[4 * n * kItems + 2 * t + 1] = static_cast<int>(f.b);
  rocprim::block_scan<int, kThreads> other;
  __shared__ typename rocprim::block_scan<int, kThreads>::storage_type other_storage;
  int reduction;
  other.exclusive_scan(x[t], one, 7, reduction, other_storage);
  out[5 * n * kItems + t] = one;
  if (t == 0) out[8 * n * kItems + 1] = reduction;
  __syncthreads();
  other.inclusive_scan(x[t], one, other_storage, rocprim::minimum<int>());
  out[6 * n * kItems + t] = one;
}

template <int kThreads>
__global__ void waves(const int* x, int* out) {
  const int t = threadIdx.x, n = kThreads;
  hipcub::WarpReduce<int>::TempStorage storage;
  const int sum = hipcub::WarpReduce<int>(storage).Sum(x[t]);
  out[t] = t % 64 == 0 ? sum : 0;
  typename hipcub::WarpReduce<int, 16>::TempStorage narrow;
  const int largest = hipcub::WarpReduce<int, 16>(narrow).Reduce(x[t], hipcub::Max(), 5);
  out[n + t] = t % 16 == 0 ? largest : 0;
  typename hipcub::WarpScan<int>::TempStorage scan_storage;
  int inclusive, exclusive;
  hipcub::WarpScan<int>(scan_storage).InclusiveSum(x[t], inclusive);
  hipcub::WarpScan<int>(scan_storage).ExclusiveSum(x[t], exclusive);
  out[2 * n + t] = inclusive;
  out[3 * n + t] = exclusive;
  typename rocprim::warp_reduce<double, 32, true>::storage_type all;
  double total;
  rocprim::warp_reduce<double, 32, true>().reduce(x[t], total, all);
  out[4 * n + t] = static_cast<int>(total);
  typename rocprim::warp_scan<int, 8>::storage_type eight;
  rocprim::warp_scan<int, 8>().exclusive_scan(x[t], exclusive, 5, eight, rocprim::maximum<int>());
  out[5 * n + t] = exclusive;
  out[6 * n + t] = hipcub::WarpScan<int>(scan_storage).Broadcast(x[t], 0);
}

template <int kThreads>
__global__ void sort(const int* x, int* out) {
  const int t = threadIdx.x, n = kThreads * kItems;
  using Sort = hipcub::BlockRadixSort<int, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage storage;
  int keys[kItems], values[kItems];
  for (int i = 0; i < kItems; ++i) keys[i] = x[t * kItems + i], values[i] = t * kItems + i;
  Sort(storage).Sort(keys, values);
  for (int i = 0; i < kItems; ++i) out[t * kItems + i] = keys[i], out[n + t * kItems + i] = values[i];
  __syncthreads();
  for (int i = 0; i < kItems; ++i) keys[i] = x[t * kItems + i];
  Sort(storage).SortDescendingBlockedToStriped(keys);
  for (int i = 0; i < kItems; ++i) out[2 * n + i * kThreads + t] = keys[i];
  __syncthreads();
  for (int i = 0; i < kItems; ++i) keys[i] = x[t * kItems + i], values[i] = t * kItems + i;
  Sort(storage).Sort(keys, values, 0, 3);  // by the lowest three bits, stable
  for (int i = 0; i < kItems; ++i) out[3 * n + t * kItems + i] = values[i];
  using Floats = rocprim::block_radix_sort<float, kThreads, kItems>;
  __shared__ typename Floats::storage_type float_storage;
  float floats[kItems];
  for (int i = 0; i < kItems; ++i) floats[i] = x[t * kItems + i] * 0.25f;
  Floats().sort_desc(floats, float_storage);
  for (int i = 0; i < kItems; ++i) out[4 * n + t * kItems + i] = static_cast<int>(floats[i] * 4);
  using Halves = hipcub::BlockRadixSort<__half, kThreads, 1>;
  __shared__ typename Halves::TempStorage half_storage;
  __half half[1] = {__half(x[t])};
  Halves(half_storage).Sort(half);
  out[5 * n + t] = static_cast<int>(float(half[0]));
}

template <int kThreads, hipcub::BlockLoadAlgorithm kLoad, hipcub::BlockStoreAlgorithm kStore>
__device__ void move(const int* x, int* out) {
  using Load = hipcub::BlockLoad<int, kThreads, kItems, kLoad>;
  using Store = hipcub::BlockStore<int, kThreads, kItems, kStore>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[kItems];
  const int valid = kThreads * kItems - kThreads / 2;
  Load(storage.load).Load(x, items, valid, -1);
  __syncthreads();
  for (int& item : items) item = item * 2 + static_cast<int>(threadIdx.x);
  Store(storage.store).Store(out, items, valid);
  __syncthreads();
}

template <int kThreads>
__global__ void moves(const int* x, int* out) {
  const int t = threadIdx.x, n = kThreads * kItems;
  move<kThreads, hipcub::BLOCK_LOAD_DIRECT, hipcub::BLOCK_STORE_TRANSPOSE>(x, out);
  move<kThreads, hipcub::BLOCK_LOAD_WARP_TRANSPOSE, hipcub::BLOCK_STORE_DIRECT>(x, out + n);
  move<kThreads, hipcub::BLOCK_LOAD_STRIPED, hipcub::BLOCK_STORE_STRIPED>(x, out + 2 * n);
  using Exchange = hipcub::BlockExchange<int, kThreads, kItems>;
  __shared__ typename Exchange::TempStorage storage;
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = x[t * kItems + i];
  Exchange(storage).BlockedToStriped(items, items);
  for (int i = 0; i < kItems; ++i) out[3 * n + i * kThreads + t] = items[i];
  rocprim::block_exchange<int, kThreads, kItems> other;
  __shared__ typename rocprim::block_exchange<int, kThreads, kItems>::storage_type other_storage;
  int ranks[kItems];
  for (int i = 0; i < kItems; ++i) ranks[i] = n - 1 - (t * kItems + i), items[i] = x[t * kItems + i];
  other.scatter_to_blocked(items, items, ranks, other_storage);
  for (int i = 0; i < kItems; ++i) out[4 * n + t * kItems + i] = items[i];
}

// host
constexpr size_t kOutputs = 1024 * kItems * 9;
static std::string folder;

template <class Kernel>
void run(Kernel kernel, const char* name, int threads, const int* x) {
  int* out = nullptr;
  if (hipMalloc(&out, kOutputs * 4) != hipSuccess || hipMemset(out, 0, kOutputs * 4) != hipSuccess) std::abort();
  kernel<<<1, threads>>>(x, out);
  std::vector<int> results(kOutputs);
  if (hipMemcpy(results.data(), out, kOutputs * 4, hipMemcpyDeviceToHost) != hipSuccess) std::abort();
  std::FILE* file = std::fopen((folder + "/" + name + "." + std::to_string(threads)).c_str(), "wb");
  if (std::fwrite(results.data(), 4, kOutputs, file) != kOutputs || std::fclose(file) != 0) std::abort();
  if (hipFree(out) != hipSuccess) std::abort();
}

template <int kThreads>
void run_all(const int* x) {
  run(reduce<kThreads>, "reduce", kThreads, x);
  run(scan<kThreads>, "scan", kThreads, x);
  run(waves<kThreads>, "waves", kThreads, x);
  run(sort<kThreads>, "sort", kThreads, x);
  run(moves<kThreads>, "moves", kThreads, x);
}

int main(int, char** argv) {
  folder = argv[1];
  std::vector<int> numbers(1024 * kItems);
  std::FILE* file = std::fopen((folder + "/input").c_str(), "rb");
  if (std::fread(numbers.data(), 4, numbers.size(), file) != numbers.size()) std::abort();
  std::fclose(file);
  int* x = nullptr;
  if (hipMalloc(&x, numbers.size() * 4) != hipSuccess) std::abort();
  if (hipMemcpy(x, numbers.data(), numbers.size() * 4, hipMemcpyHostToDevice) != hipSuccess) std::abort();
  run_all<1>(x);
  run_all<33>(x);
  run_all<64>(x);
  run_all<100>(x);
  run_all<256>(x);
  run_all<1000>(x);
  return hipDeviceSynchronize() != hipSuccess;
}
