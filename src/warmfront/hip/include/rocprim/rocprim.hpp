// rocPRIM's operations of a block or a wave, as far as kernels use them: our own code behind rocPRIM's names.
//
// Algorithms are accepted and ignored: results do not depend on them.
#pragma once

#include <hipshared/collectives/block.h>
#include <hipshared/collectives/exchange.h>
#include <hipshared/collectives/sort.h>

namespace rocprim {

template <class T = void>
struct plus : hipshared::collectives::Plus {};
template <class T = void>
struct maximum : hipshared::collectives::Maximum {};
template <class T = void>
struct minimum : hipshared::collectives::Minimum {};
using empty_type = hipshared::collectives::Nothing;

enum class block_reduce_algorithm {
  using_warp_reduce,
  raking_reduce,
  raking_reduce_commutative_only,
  default_algorithm = using_warp_reduce,
};
enum class block_scan_algorithm { using_warp_scan, reduce_then_scan, default_algorithm = using_warp_scan };
enum class block_load_method {
  block_load_direct,
  block_load_striped,
  block_load_vectorize,
  block_load_transpose,
  block_load_warp_transpose,
  default_method = block_load_direct,
};
enum class block_store_method {
  block_store_direct,
  block_store_striped,
  block_store_vectorize,
  block_store_transpose,
  block_store_warp_transpose,
  default_method = block_store_direct,
};

// Shared memory of its own, for a call without a storage.
#define HIPSHARED_OWN_STORAGE(type, name) __shared__ type name

template <class T, unsigned kX, block_reduce_algorithm = block_reduce_algorithm::default_algorithm, unsigned kY = 1,
          unsigned kZ = 1>
class block_reduce {
  static constexpr unsigned kThreads = kX * kY * kZ;

 public:
  using storage_type = hipshared::collectives::BlockStorage<T, kThreads>;

  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, storage_type& storage, Op op = Op(), HIPSHARED_LINE) {
    output = hipshared::collectives::reduce_block<kThreads>(storage, input, op, kThreads, line);
  }
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, unsigned valid, storage_type& storage, Op op = Op(), HIPSHARED_LINE) {
    output = hipshared::collectives::reduce_block<kThreads>(storage, input, op, valid, line);
  }
  template <unsigned kItems, class Op = plus<T>>
  __device__ void reduce(T (&input)[kItems], T& output, storage_type& storage, Op op = Op(), HIPSHARED_LINE) {
    reduce(hipshared::collectives::reduce_items(input, op), output, storage, op, line);
  }
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, Op op = Op(), HIPSHARED_LINE) {
    HIPSHARED_OWN_STORAGE(storage_type, storage);
    reduce(input, output, storage, op, line);
  }
  template <unsigned kItems, class Op = plus<T>>
  __device__ void reduce(T (&input)[kItems], T& output, Op op = Op(), HIPSHARED_LINE) {
    HIPSHARED_OWN_STORAGE(storage_type, storage);
    reduce(input, output, storage, op, line);
  }
};

template <class T, unsigned kX, block_scan_algorithm = block_scan_algorithm::default_algorithm, unsigned kY = 1,
          unsigned kZ = 1>
class block_scan {
  static constexpr unsigned kThreads = kX * kY * kZ;

  template <bool kInclusive, unsigned kItems, class Op>
  __device__ static T run(hipshared::collectives::BlockStorage<T, kThreads>& storage, const T (&input)[kItems],
                          T (&output)[kItems], const T* initial, Op op, hipshared::collectives::Line line) {
    return hipshared::collectives::scan_items<kInclusive>(storage, input, output, initial, op, line);
  }
  template <bool kInclusive, class Op>
  __device__ static T run(hipshared::collectives::BlockStorage<T, kThreads>& storage, const T& input, T& output,
                          const T* initial, Op op, hipshared::collectives::Line line) {
    const T items[1] = {input};
    T outputs[1];
    const T total = run<kInclusive>(storage, items, outputs, initial, op, line);
    output = outputs[0];
    return total;
  }

 public:
  using storage_type = hipshared::collectives::BlockStorage<T, kThreads>;

  // `In` and `Out` are T, or arrays of T.
  template <class In, class Out, class Op = plus<T>>
  __device__ void inclusive_scan(const In& input, Out& output, storage_type& storage, Op op = Op(), HIPSHARED_LINE) {
    run<true>(storage, input, output, nullptr, op, line);
  }
  template <class In, class Out, class Op = plus<T>>
  __device__ void inclusive_scan(const In& input, Out& output, T& reduction, storage_type& storage, Op op = Op(),
                                 HIPSHARED_LINE) {
    reduction = run<true>(storage, input, output, nullptr, op, line);
  }
  template <class In, class Out, class Op = plus<T>>
  __device__ void exclusive_scan(const In& input, Out& output, T initial, storage_type& storage, Op op = Op(),
                                 HIPSHARED_LINE) {
    run<false>(storage, input, output, &initial, op, line);
  }
  template <class In, class Out, class Op = plus<T>>
  __device__ void exclusive_scan(const In& input, Out& output, T initial, T& reduction, storage_type& storage,
                                 Op op = Op(), HIPSHARED_LINE) {
    reduction = run<false>(storage, input, output, &initial, op, line);
  }
};

template <class T, unsigned kWidth = 64, bool kForAll = false>
class warp_reduce {
 public:
  struct storage_type {};

  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, storage_type&, Op op = Op(), HIPSHARED_LINE) {
    output = finish(hipshared::collectives::reduce_group<kWidth>(input, op, kWidth, line), line);
  }
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, int valid, storage_type&, Op op = Op(), HIPSHARED_LINE) {
    output = finish(hipshared::collectives::reduce_group<kWidth>(input, op, static_cast<unsigned>(valid), line), line);
  }

 private:
  __device__ static T finish(T value, hipshared::collectives::Line line) {
    return kForAll ? hipshared::collectives::from_lane<kWidth>(value, 0, line) : value;
  }
};

template <class T, unsigned kWidth = 64>
class warp_scan {
 public:
  struct storage_type {};

  template <class Op = plus<T>>
  __device__ void inclusive_scan(T input, T& output, storage_type&, Op op = Op(), HIPSHARED_LINE) {
    output = hipshared::collectives::scan_group<kWidth>(input, op, line);
  }
  template <class Op = plus<T>>
  __device__ void exclusive_scan(T input, T& output, T initial, storage_type&, Op op = Op(), HIPSHARED_LINE) {
    const T inclusive = hipshared::collectives::scan_group<kWidth>(input, op, line);
    const T before = hipshared::collectives::from_previous<kWidth>(inclusive, line);
    output = __lane_id() % kWidth == 0 ? initial : op(initial, before);
  }
};

template <class Key, unsigned kX, unsigned kItems, class Value = empty_type, unsigned kY = 1, unsigned kZ = 1>
class block_radix_sort {
  static constexpr unsigned kThreads = kX * kY * kZ;
  static constexpr unsigned kAllBits = 8 * sizeof(Key);

 public:
  using storage_type = hipshared::collectives::SortStorage<Key, Value, kThreads, kItems>;

#define HIPSHARED_SORT(name, descending, to_striped) \
  __device__ void name(Key (&keys)[kItems], storage_type& storage, unsigned begin_bit = 0, unsigned end_bit = kAllBits, \
                       HIPSHARED_LINE) { \
    empty_type nothing[kItems]; \
    hipshared::collectives::sort_items<descending, to_striped>(storage, keys, nothing, begin_bit, end_bit, line); \
  } \
  __device__ void name(Key (&keys)[kItems], Value (&values)[kItems], storage_type& storage, unsigned begin_bit = 0, \
                       unsigned end_bit = kAllBits, HIPSHARED_LINE) { \
    hipshared::collectives::sort_items<descending, to_striped>(storage, keys, values, begin_bit, end_bit, line); \
  }
  HIPSHARED_SORT(sort, false, false)
  HIPSHARED_SORT(sort_desc, true, false)
  HIPSHARED_SORT(sort_to_striped, false, true)
  HIPSHARED_SORT(sort_desc_to_striped, true, true)
#undef HIPSHARED_SORT
};

template <class T, unsigned kX, unsigned kItems, block_load_method kMethod = block_load_method::default_method,
          unsigned kY = 1, unsigned kZ = 1>
class block_load {
  static constexpr unsigned kThreads = kX * kY * kZ;
  static constexpr auto kArrangement =
      kMethod == block_load_method::block_load_direct || kMethod == block_load_method::block_load_vectorize
          ? hipshared::collectives::Arrangement::kBlocked
      : kMethod == block_load_method::block_load_striped ? hipshared::collectives::Arrangement::kStriped
                                                         : hipshared::collectives::Arrangement::kTransposed;

 public:
  using storage_type = hipshared::collectives::ExchangeStorage<T, kThreads, kItems>;

  template <class Iterator>
  __device__ void load(Iterator from, T (&items)[kItems], storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::load_items<kArrangement>(storage, from, items, kThreads * kItems, line);
  }
  template <class Iterator>
  __device__ void load(Iterator from, T (&items)[kItems], unsigned valid, storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::load_items<kArrangement>(storage, from, items, valid, line);
  }
  template <class Iterator, class Default>
  __device__ void load(Iterator from, T (&items)[kItems], unsigned valid, Default other, storage_type& storage,
                       HIPSHARED_LINE) {
    for (T& item : items) item = static_cast<T>(other);
    hipshared::collectives::load_items<kArrangement>(storage, from, items, valid, line);
  }
};

template <class T, unsigned kX, unsigned kItems, block_store_method kMethod = block_store_method::default_method,
          unsigned kY = 1, unsigned kZ = 1>
class block_store {
  static constexpr unsigned kThreads = kX * kY * kZ;
  static constexpr auto kArrangement =
      kMethod == block_store_method::block_store_direct || kMethod == block_store_method::block_store_vectorize
          ? hipshared::collectives::Arrangement::kBlocked
      : kMethod == block_store_method::block_store_striped ? hipshared::collectives::Arrangement::kStriped
                                                           : hipshared::collectives::Arrangement::kTransposed;

 public:
  using storage_type = hipshared::collectives::ExchangeStorage<T, kThreads, kItems>;

  template <class Iterator>
  __device__ void store(Iterator to, T (&items)[kItems], storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::store_items<kArrangement>(storage, to, items, kThreads * kItems, line);
  }
  template <class Iterator>
  __device__ void store(Iterator to, T (&items)[kItems], unsigned valid, storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::store_items<kArrangement>(storage, to, items, valid, line);
  }
};

template <class T, unsigned kX, unsigned kItems, unsigned kY = 1, unsigned kZ = 1>
class block_exchange {
  static constexpr unsigned kThreads = kX * kY * kZ;
  __device__ static unsigned in_block(unsigned i) { return hipshared::collectives::blocked<kThreads, kItems>(i); }
  __device__ static unsigned in_stripes(unsigned i) { return hipshared::collectives::striped<kThreads, kItems>(i); }

 public:
  using storage_type = hipshared::collectives::ExchangeStorage<T, kThreads, kItems>;

  __device__ void blocked_to_striped(const T (&items)[kItems], T (&outputs)[kItems], storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::exchange(storage, items, outputs, in_block, in_stripes, line);
  }
  __device__ void striped_to_blocked(const T (&items)[kItems], T (&outputs)[kItems], storage_type& storage, HIPSHARED_LINE) {
    hipshared::collectives::exchange(storage, items, outputs, in_stripes, in_block, line);
  }
  template <class Offset>
  __device__ void scatter_to_blocked(const T (&items)[kItems], T (&outputs)[kItems], const Offset (&ranks)[kItems],
                                     storage_type& storage, HIPSHARED_LINE) {
    const auto put = [&ranks](unsigned i) { return static_cast<unsigned>(ranks[i]); };
    hipshared::collectives::exchange(storage, items, outputs, put, in_block, line);
  }
  template <class Offset>
  __device__ void scatter_to_striped(const T (&items)[kItems], T (&outputs)[kItems], const Offset (&ranks)[kItems],
                                     storage_type& storage, HIPSHARED_LINE) {
    const auto put = [&ranks](unsigned i) { return static_cast<unsigned>(ranks[i]); };
    hipshared::collectives::exchange(storage, items, outputs, put, in_stripes, line);
  }
};

#undef HIPSHARED_OWN_STORAGE

}  // namespace rocprim
