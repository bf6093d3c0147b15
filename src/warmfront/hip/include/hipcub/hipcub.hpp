// hipCUB's operations of a block or a wave, as far as kernels use them: our own code behind hipCUB's names.
//
// Algorithms are accepted and ignored: results do not depend on them. What hipCUB calls a warp is a wave of 64 lanes.
#pragma once

#include <hipshared/collectives/block.h>
#include <hipshared/collectives/exchange.h>
#include <hipshared/collectives/sort.h>

#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_WARP_THREADS 64

namespace hipcub {

struct Sum : hipshared::collectives::Plus {};
struct Max : hipshared::collectives::Maximum {};
struct Min : hipshared::collectives::Minimum {};
struct Equality : hipshared::collectives::Equal {};
struct Inequality : hipshared::collectives::Unequal {};
using NullType = hipshared::collectives::Nothing;

template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;

  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(Key key, Value value) : key(key), value(value) {}
  __host__ __device__ bool operator!=(const KeyValuePair& other) const {
    return !(key == other.key) || !(value == other.value);
  }
};

// The pair with the larger value; of equal ones, that with the smaller key.
struct ArgMax {
  template <class Key, class Value>
  __host__ __device__ KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                          const KeyValuePair<Key, Value>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Key, class Value>
  __host__ __device__ KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                          const KeyValuePair<Key, Value>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

// The common part of the classes in this file: a reference to storage in shared memory, which the caller provides, or
// which all objects of the class share.
template <class Storage>
class Collective {
 public:
  struct TempStorage : Storage {};

 protected:
  Storage& storage_;

  __device__ Collective() : storage_(own()) {}
  __device__ explicit Collective(TempStorage& storage) : storage_(storage) {}

 private:
  __device__ static Storage& own() {
    __shared__ Storage storage;
    return storage;
  }
};

// Thread 0 gets the result; what the others get is undefined.
template <class T, int kX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int kY = 1, int kZ = 1, int = 1>
class BlockReduce : Collective<hipshared::collectives::BlockStorage<T, kX * kY * kZ>> {
  static constexpr int kThreads = kX * kY * kZ;
  using Base = Collective<hipshared::collectives::BlockStorage<T, kThreads>>;

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockReduce() {}
  __device__ BlockReduce(TempStorage& storage) : Base(storage) {}

  template <class Op>
  __device__ T Reduce(T input, Op op, HIPSHARED_LINE) {
    return hipshared::collectives::reduce_block<kThreads>(this->storage_, input, op, kThreads, line);
  }
  template <class Op>
  __device__ T Reduce(T input, Op op, int valid, HIPSHARED_LINE) {
    return hipshared::collectives::reduce_block<kThreads>(this->storage_, input, op, static_cast<unsigned>(valid), line);
  }
  template <int kItems, class Op>
  __device__ T Reduce(T (&inputs)[kItems], Op op, HIPSHARED_LINE) {
    return Reduce(hipshared::collectives::reduce_items(inputs, op), op, line);
  }
  __device__ T Sum(T input, HIPSHARED_LINE) { return Reduce(input, hipcub::Sum(), line); }
  __device__ T Sum(T input, int valid, HIPSHARED_LINE) { return Reduce(input, hipcub::Sum(), valid, line); }
  template <int kItems>
  __device__ T Sum(T (&inputs)[kItems], HIPSHARED_LINE) {
    return Reduce(inputs, hipcub::Sum(), line);
  }
};

template <class T, int kX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int kY = 1, int kZ = 1, int = 1>
class BlockScan : Collective<hipshared::collectives::BlockStorage<T, kX * kY * kZ>> {
  static constexpr int kThreads = kX * kY * kZ;
  using Base = Collective<hipshared::collectives::BlockStorage<T, kThreads>>;
  using Line = hipshared::collectives::Line;

  template <bool kInclusive, unsigned kItems, class Op>
  __device__ T run(const T (&input)[kItems], T (&output)[kItems], const T* initial, Op op, Line line) {
    return hipshared::collectives::scan_items<kInclusive>(this->storage_, input, output, initial, op, line);
  }
  template <bool kInclusive, unsigned kItems, class Op, class Prefix>
  __device__ void run_after(const T (&input)[kItems], T (&output)[kItems], Op op, Prefix& prefix, Line line) {
    hipshared::collectives::scan_items_after<kInclusive>(this->storage_, input, output, op, prefix, line);
  }
  // A single value is an array of one.
  template <bool kInclusive, class Op>
  __device__ T run(const T& input, T& output, const T* initial, Op op, Line line) {
    const T items[1] = {input};
    T outputs[1];
    const T total = run<kInclusive>(items, outputs, initial, op, line);
    output = outputs[0];
    return total;
  }
  template <bool kInclusive, class Op, class Prefix>
  __device__ void run_after(const T& input, T& output, Op op, Prefix& prefix, Line line) {
    const T items[1] = {input};
    T outputs[1];
    run_after<kInclusive>(items, outputs, op, prefix, line);
    output = outputs[0];
  }

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockScan() {}
  __device__ BlockScan(TempStorage& storage) : Base(storage) {}

  // `In` and `Out` are T, or arrays of T. The last argument of a sum is the total of the block, or a function that returns what
  // comes before the block, given that total.
  template <class In, class Out>
  __device__ void InclusiveSum(const In& input, Out& output, HIPSHARED_LINE) {
    run<true>(input, output, nullptr, hipcub::Sum(), line);
  }
  template <class In, class Out>
  __device__ void InclusiveSum(const In& input, Out& output, T& total, HIPSHARED_LINE) {
    total = run<true>(input, output, nullptr, hipcub::Sum(), line);
  }
  template <class In, class Out, class Prefix>
    requires(!std::is_same_v<Prefix, T> && !std::is_same_v<Prefix, Line>)
  __device__ void InclusiveSum(const In& input, Out& output, Prefix& prefix, HIPSHARED_LINE) {
    run_after<true>(input, output, hipcub::Sum(), prefix, line);
  }

  template <class In, class Out>
  __device__ void ExclusiveSum(const In& input, Out& output, HIPSHARED_LINE) {
    const T initial = T(0);
    run<false>(input, output, &initial, hipcub::Sum(), line);
  }
  template <class In, class Out>
  __device__ void ExclusiveSum(const In& input, Out& output, T& total, HIPSHARED_LINE) {
    const T initial = T(0);
    total = run<false>(input, output, &initial, hipcub::Sum(), line);
  }
  template <class In, class Out, class Prefix>
    requires(!std::is_same_v<Prefix, T> && !std::is_same_v<Prefix, Line>)
  __device__ void ExclusiveSum(const In& input, Out& output, Prefix& prefix, HIPSHARED_LINE) {
    run_after<false>(input, output, hipcub::Sum(), prefix, line);
  }

  template <class In, class Out, class Op>
  __device__ void InclusiveScan(const In& input, Out& output, Op op, HIPSHARED_LINE) {
    run<true>(input, output, nullptr, op, line);
  }
  template <class In, class Out, class Op>
  __device__ void InclusiveScan(const In& input, Out& output, Op op, T& total, HIPSHARED_LINE) {
    total = run<true>(input, output, nullptr, op, line);
  }
  template <class In, class Out, class Op>
  __device__ void ExclusiveScan(const In& input, Out& output, Op op, HIPSHARED_LINE) {
    run<false>(input, output, nullptr, op, line);
  }
  template <class In, class Out, class Initial, class Op>
    requires(std::is_convertible_v<Initial, T>)
  __device__ void ExclusiveScan(const In& input, Out& output, Initial initial, Op op, HIPSHARED_LINE) {
    const T first = static_cast<T>(initial);
    run<false>(input, output, &first, op, line);
  }
  template <class In, class Out, class Initial, class Op>
    requires(std::is_convertible_v<Initial, T>)
  __device__ void ExclusiveScan(const In& input, Out& output, Initial initial, Op op, T& total, HIPSHARED_LINE) {
    const T first = static_cast<T>(initial);
    total = run<false>(input, output, &first, op, line);
  }
};

// Lane 0 of each group gets the result; what the others get is undefined.
template <class T, int kWidth = HIPCUB_WARP_THREADS, int = 1>
class WarpReduce {
 public:
  struct TempStorage {};
  __device__ WarpReduce(TempStorage&) {}

  template <class Op>
  __device__ T Reduce(T input, Op op, HIPSHARED_LINE) {
    return hipshared::collectives::reduce_group<kWidth>(input, op, kWidth, line);
  }
  template <class Op>
  __device__ T Reduce(T input, Op op, int valid, HIPSHARED_LINE) {
    return hipshared::collectives::reduce_group<kWidth>(input, op, static_cast<unsigned>(valid), line);
  }
  __device__ T Sum(T input, HIPSHARED_LINE) { return Reduce(input, hipcub::Sum(), line); }
  __device__ T Sum(T input, int valid, HIPSHARED_LINE) { return Reduce(input, hipcub::Sum(), valid, line); }
};

template <class T, int kWidth = HIPCUB_WARP_THREADS, int = 1>
class WarpScan {
  using Line = hipshared::collectives::Line;

 public:
  struct TempStorage {};
  __device__ WarpScan(TempStorage&) {}

  template <class Op>
  __device__ void InclusiveScan(T input, T& output, Op op, HIPSHARED_LINE) {
    output = hipshared::collectives::scan_group<kWidth>(input, op, line);
  }
  template <class Op>
  __device__ void InclusiveScan(T input, T& output, Op op, T& total, HIPSHARED_LINE) {
    output = hipshared::collectives::scan_group<kWidth>(input, op, line);
    total = hipshared::collectives::from_last<kWidth>(output, line);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, T initial, Op op, HIPSHARED_LINE) {
    T total;
    ExclusiveScan(input, output, initial, op, total, line);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, T initial, Op op, T& total, HIPSHARED_LINE) {
    const T inclusive = hipshared::collectives::scan_group<kWidth>(input, op, line);
    const T before = hipshared::collectives::from_previous<kWidth>(inclusive, line);
    total = hipshared::collectives::from_last<kWidth>(inclusive, line);
    output = __lane_id() % kWidth == 0 ? initial : op(initial, before);
  }
  // Without an initial value, what lane 0 gets is undefined.
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, Op op, HIPSHARED_LINE) {
    output = hipshared::collectives::from_previous<kWidth>(hipshared::collectives::scan_group<kWidth>(input, op, line), line);
  }
  __device__ void InclusiveSum(T input, T& output, HIPSHARED_LINE) { InclusiveScan(input, output, hipcub::Sum(), line); }
  __device__ void InclusiveSum(T input, T& output, T& total, HIPSHARED_LINE) {
    InclusiveScan(input, output, hipcub::Sum(), total, line);
  }
  __device__ void ExclusiveSum(T input, T& output, HIPSHARED_LINE) {
    ExclusiveScan(input, output, T(0), hipcub::Sum(), line);
  }
  __device__ void ExclusiveSum(T input, T& output, T& total, HIPSHARED_LINE) {
    ExclusiveScan(input, output, T(0), hipcub::Sum(), total, line);
  }
  __device__ T Broadcast(T input, unsigned lane, HIPSHARED_LINE) {
    return hipshared::collectives::from_lane<kWidth>(input, lane, line);
  }
};

template <class Key, int kX, int kItems, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int kY = 1, int kZ = 1, int = 1>
class BlockRadixSort : Collective<hipshared::collectives::SortStorage<Key, Value, kX * kY * kZ, kItems>> {
  using Base = Collective<hipshared::collectives::SortStorage<Key, Value, kX * kY * kZ, kItems>>;
  static constexpr int kAllBits = 8 * sizeof(Key);

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockRadixSort() {}
  __device__ BlockRadixSort(TempStorage& storage) : Base(storage) {}

#define HIPSHARED_SORT(name, descending, to_striped) \
  __device__ void name(Key (&keys)[kItems], int begin_bit = 0, int end_bit = kAllBits, HIPSHARED_LINE) { \
    NullType nothing[kItems]; \
    hipshared::collectives::sort_items<descending, to_striped>(this->storage_, keys, nothing, begin_bit, end_bit, line); \
  } \
  __device__ void name(Key (&keys)[kItems], Value (&values)[kItems], int begin_bit = 0, int end_bit = kAllBits, \
                       HIPSHARED_LINE) { \
    hipshared::collectives::sort_items<descending, to_striped>(this->storage_, keys, values, begin_bit, end_bit, line); \
  }
  HIPSHARED_SORT(Sort, false, false)
  HIPSHARED_SORT(SortDescending, true, false)
  HIPSHARED_SORT(SortBlockedToStriped, false, true)
  HIPSHARED_SORT(SortDescendingBlockedToStriped, true, true)
#undef HIPSHARED_SORT
};

template <class T, int kX, int kItems, BlockLoadAlgorithm kAlgorithm = BLOCK_LOAD_DIRECT, int kY = 1, int kZ = 1, int = 1>
class BlockLoad : Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>> {
  using Base = Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>>;
  static constexpr auto kArrangement = kAlgorithm == BLOCK_LOAD_DIRECT || kAlgorithm == BLOCK_LOAD_VECTORIZE
                                           ? hipshared::collectives::Arrangement::kBlocked
                                       : kAlgorithm == BLOCK_LOAD_STRIPED
                                           ? hipshared::collectives::Arrangement::kStriped
                                           : hipshared::collectives::Arrangement::kTransposed;

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockLoad() {}
  __device__ BlockLoad(TempStorage& storage) : Base(storage) {}

  template <class Iterator>
  __device__ void Load(Iterator from, T (&items)[kItems], HIPSHARED_LINE) {
    hipshared::collectives::load_items<kArrangement>(this->storage_, from, items, kX * kY * kZ * kItems, line);
  }
  template <class Iterator>
  __device__ void Load(Iterator from, T (&items)[kItems], int valid, HIPSHARED_LINE) {
    hipshared::collectives::load_items<kArrangement>(this->storage_, from, items, static_cast<unsigned>(valid), line);
  }
  template <class Iterator, class Default>
  __device__ void Load(Iterator from, T (&items)[kItems], int valid, Default other, HIPSHARED_LINE) {
    for (T& item : items) item = static_cast<T>(other);
    Load(from, items, valid, line);
  }
};

template <class T, int kX, int kItems, BlockStoreAlgorithm kAlgorithm = BLOCK_STORE_DIRECT, int kY = 1, int kZ = 1, int = 1>
class BlockStore : Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>> {
  using Base = Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>>;
  static constexpr auto kArrangement = kAlgorithm == BLOCK_STORE_DIRECT || kAlgorithm == BLOCK_STORE_VECTORIZE
                                           ? hipshared::collectives::Arrangement::kBlocked
                                       : kAlgorithm == BLOCK_STORE_STRIPED
                                           ? hipshared::collectives::Arrangement::kStriped
                                           : hipshared::collectives::Arrangement::kTransposed;

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockStore() {}
  __device__ BlockStore(TempStorage& storage) : Base(storage) {}

  template <class Iterator>
  __device__ void Store(Iterator to, T (&items)[kItems], HIPSHARED_LINE) {
    hipshared::collectives::store_items<kArrangement>(this->storage_, to, items, kX * kY * kZ * kItems, line);
  }
  template <class Iterator>
  __device__ void Store(Iterator to, T (&items)[kItems], int valid, HIPSHARED_LINE) {
    hipshared::collectives::store_items<kArrangement>(this->storage_, to, items, static_cast<unsigned>(valid), line);
  }
};

template <class T, int kX, int kItems, bool = false, int kY = 1, int kZ = 1, int = 1>
class BlockExchange : Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>> {
  using Base = Collective<hipshared::collectives::ExchangeStorage<T, kX * kY * kZ, kItems>>;
  __device__ static unsigned in_block(unsigned i) { return hipshared::collectives::blocked<kX * kY * kZ, kItems>(i); }
  __device__ static unsigned in_stripes(unsigned i) { return hipshared::collectives::striped<kX * kY * kZ, kItems>(i); }

 public:
  using TempStorage = typename Base::TempStorage;
  __device__ BlockExchange() {}
  __device__ BlockExchange(TempStorage& storage) : Base(storage) {}

  __device__ void BlockedToStriped(const T (&items)[kItems], T (&outputs)[kItems], HIPSHARED_LINE) {
    hipshared::collectives::exchange(this->storage_, items, outputs, in_block, in_stripes, line);
  }
  __device__ void StripedToBlocked(const T (&items)[kItems], T (&outputs)[kItems], HIPSHARED_LINE) {
    hipshared::collectives::exchange(this->storage_, items, outputs, in_stripes, in_block, line);
  }
  template <class Offset>
  __device__ void ScatterToBlocked(const T (&items)[kItems], T (&outputs)[kItems], Offset (&ranks)[kItems], HIPSHARED_LINE) {
    const auto put = [&ranks](unsigned i) { return static_cast<unsigned>(ranks[i]); };
    hipshared::collectives::exchange(this->storage_, items, outputs, put, in_block, line);
  }
  template <class Offset>
  __device__ void ScatterToStriped(const T (&items)[kItems], T (&outputs)[kItems], Offset (&ranks)[kItems], HIPSHARED_LINE) {
    const auto put = [&ranks](unsigned i) { return static_cast<unsigned>(ranks[i]); };
    hipshared::collectives::exchange(this->storage_, items, outputs, put, in_stripes, line);
  }
};

}  // namespace hipcub
