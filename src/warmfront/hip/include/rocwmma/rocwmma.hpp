// rocWMMA for gfx942, as far as kernels use it: fragments of 16x16xK and 32x32xK products, over the matrix instructions.
//
// A fragment belongs to a wave. Which of its elements a lane has is not specified, except that it is the same for fragments
// of the same type.
#pragma once

#include <cstdint>
#include <type_traits>

#include <hipshared/matrix_steps.h>

#define ROCWMMA_DEVICE __device__
#define ROCWMMA_HOST __host__
#define ROCWMMA_HOST_DEVICE __host__ __device__
#define ROCWMMA_KERNEL __global__
#define ROCWMMA_ARCH_GFX9 1
#define ROCWMMA_ARCH_GFX942 1
#define ROCWMMA_ARCH_HOST 0  // the CPU runtime compiles host and device code at once

namespace rocwmma {

using float16_t = _Float16;
using hfloat16_t = __half;
using bfloat16_t = hip_bfloat16;
using float32_t = float;
using float64_t = double;
using float8_fnuz_t = __hip_fp8_e4m3_fnuz;
using bfloat8_fnuz_t = __hip_fp8_e5m2_fnuz;
using float8_t = __hip_fp8_e4m3;
using bfloat8_t = __hip_fp8_e5m2;
using int8_t = ::int8_t;
using int32_t = ::int32_t;

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t : uint32_t { mem_row_major, mem_col_major };

// A vector of N elements of any type.
template <class T, uint32_t N>
struct alignas(N * sizeof(T) % 16 == 0 ? 16 : (N & (N - 1)) == 0 ? N * sizeof(T) : alignof(T)) VecT {
  T data[N];

  __host__ __device__ T& operator[](uint32_t i) { return data[i]; }
  __host__ __device__ const T& operator[](uint32_t i) const { return data[i]; }
  __host__ __device__ static constexpr uint32_t size() { return N; }
};

template <class T, class... Others>
  requires(std::is_same_v<T, Others> && ...)
__host__ __device__ inline VecT<T, 1 + sizeof...(Others)> make_vector(T first, Others... others) {
  return {{first, others...}};
}

struct Constants {
  static constexpr uint32_t AMDGCN_WAVE_SIZE_32 = 32;
  static constexpr uint32_t AMDGCN_WAVE_SIZE_64 = 64;
  static constexpr uint32_t AMDGCN_WAVE_SIZE = 64;
};

template <class A, class B>
__host__ __device__ constexpr auto ceilDiv(A dividend, B divisor) {
  return (dividend + divisor - 1) / divisor;
}

template <uint32_t N>
struct Log2 {
  static_assert(N > 0 && (N & (N - 1)) == 0, "Log2 needs a power of two");
  static constexpr uint32_t value = 31 - __builtin_clz(N);
};

template <class To, class From>
__host__ __device__ inline To convert(const From& value) {
  return static_cast<To>(value);
}

// A row and a column.
struct Coord2d {
  uint32_t row, column;

  friend __host__ __device__ constexpr Coord2d operator+(Coord2d a, Coord2d b) { return {a.row + b.row, a.column + b.column}; }
  friend __host__ __device__ constexpr Coord2d operator-(Coord2d a, Coord2d b) { return {a.row - b.row, a.column - b.column}; }
  friend __host__ __device__ constexpr Coord2d operator*(Coord2d a, Coord2d b) { return {a.row * b.row, a.column * b.column}; }
  friend __host__ __device__ constexpr bool operator==(Coord2d a, Coord2d b) = default;
  __host__ __device__ constexpr Coord2d& operator+=(Coord2d other) { return *this = *this + other; }
};

__host__ __device__ constexpr Coord2d make_coord2d(uint32_t row, uint32_t column) { return {row, column}; }

template <uint32_t I>
__host__ __device__ constexpr uint32_t get(Coord2d coord) {
  static_assert(I < 2, "a coordinate has a row and a column");
  return I == 0 ? coord.row : coord.column;
}

namespace detail {

template <class Kind, uint32_t M, uint32_t N, uint32_t K>
inline constexpr uint32_t elements_per_lane = M * K / 64;
template <uint32_t M, uint32_t N, uint32_t K>
inline constexpr uint32_t elements_per_lane<matrix_b, M, N, K> = K * N / 64;
template <uint32_t M, uint32_t N, uint32_t K>
inline constexpr uint32_t elements_per_lane<accumulator, M, N, K> = M * N / 64;

template <class Layout>
inline constexpr bool is_row_major = true;
template <>
inline constexpr bool is_row_major<col_major> = false;

// Where an element is in memory.
template <class Layout>
struct DataLayout {
  __host__ __device__ static constexpr uint32_t fromMatrixCoord(Coord2d coord, uint32_t stride) {
    return is_row_major<Layout> ? coord.row * stride + coord.column : coord.column * stride + coord.row;
  }
};

// The step that multiplies elements of this type: for an accumulator, any with the same arrangement.
template <class T, uint32_t M>
using StepOf = hipshared::matrix::Step<T, typename hipshared::matrix::SumOf<T>::type, M>;

}  // namespace detail

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout = void>
class fragment {
  static constexpr bool kIsAccumulator = std::is_same_v<Kind, accumulator>;
  static constexpr uint32_t kRows = std::is_same_v<Kind, matrix_b> ? K : M;
  static constexpr uint32_t kColumns = std::is_same_v<Kind, matrix_a> ? K : N;
  static_assert(!kIsAccumulator || (M == 16 && N == 16) || (M == 32 && N == 32),
                "rocWMMA on gfx942 has products of 16x16 and of 32x32");
  static_assert(kRows * kColumns % 64 == 0, "the elements of a fragment are distributed over the 64 lanes of a wave");

 public:
  using element_type = T;
  static constexpr uint32_t num_elements = detail::elements_per_lane<Kind, M, N, K>;
  T x[num_elements];

  __device__ T& operator[](uint32_t i) { return x[i]; }
  __device__ const T& operator[](uint32_t i) const { return x[i]; }
  __host__ __device__ static constexpr uint32_t size() { return num_elements; }
  __host__ __device__ static constexpr uint32_t height() { return kRows; }
  __host__ __device__ static constexpr uint32_t width() { return kColumns; }
};

namespace detail {

template <class Fragment>
struct TypesOf;
template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class LayoutOf>
struct TypesOf<fragment<Kind, M, N, K, T, LayoutOf>> {
  using Layout = DataLayout<LayoutOf>;
  using Element = T;
};

template <class Fragment>
struct IOShape {
  static constexpr uint32_t BlockHeight = Fragment::height(), BlockWidth = Fragment::width();
};

}  // namespace detail

template <class Fragment>
using GetDataType_t = typename detail::TypesOf<Fragment>::Element;
template <class Fragment>
using GetDataLayout_t = typename detail::TypesOf<Fragment>::Layout;
template <class Fragment>
using GetIOShape_t = detail::IOShape<Fragment>;

// The blocks of a matrix, one per wave, and their addresses.
template <uint32_t Height, uint32_t Width, class T, class Layout>
struct MappingUtil {
  __device__ static Coord2d waveCoord() { return {threadIdx.x / 64, threadIdx.y}; }
  __device__ static Coord2d blockCoord() {
    return {(blockIdx.x * blockDim.x + threadIdx.x) / 64, blockIdx.y * blockDim.y + threadIdx.y};
  }
  __device__ static constexpr Coord2d matrixCoord(Coord2d block) { return block * Coord2d{Height, Width}; }
  __device__ static Coord2d matrixCoord() { return matrixCoord(blockCoord()); }
  __host__ __device__ static constexpr uint32_t dataOffset(Coord2d coord, uint32_t stride) {
    return detail::DataLayout<Layout>::fromMatrixCoord(coord, stride);
  }
  __host__ __device__ static constexpr T* dataCoord(T* base, Coord2d coord, uint32_t stride) {
    return base + dataOffset(coord, stride);
  }
  __host__ __device__ static constexpr const T* dataCoord(const T* base, Coord2d coord, uint32_t stride) {
    return base + dataOffset(coord, stride);
  }
};

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void fill_fragment(fragment<Kind, M, N, K, T, Layout>& frag, T value) {
#pragma unroll
  for (T& element : frag.x) element = value;
}

namespace detail {

template <class T, uint32_t M, uint32_t K>
constexpr void check_operand() {
  static_assert(StepOf<T, M>::kExists, "no matrix instruction of gfx942 multiplies this type: use float16_t, bfloat16_t, "
                                       "float8_fnuz_t, bfloat8_fnuz_t, int8_t, float32_t, or float64_t with 16x16");
  static_assert(K % StepOf<T, M>::kDepth == 0, "K must be a multiple of the depth of the matrix instruction");
}

// Which k element `i` of a lane has; its row of A, or column of B, is lane % M.
template <class T, uint32_t M>
__device__ inline uint32_t depth_of(uint32_t lane, uint32_t i) {
  using Step = StepOf<T, M>;
  return i / Step::kItems * Step::kDepth + lane / M * Step::kItems + i % Step::kItems;
}

// Whether a fragment of this many rows of A, or columns of B, can be multiplied. Others only move data between memories.
template <uint32_t Size>
inline constexpr bool is_operand = Size == 16 || Size == 32;

// Calls `visit` with the number, the row and the column of each of a lane's elements. The elements of B are arranged as
// those of the transposed A.
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout, class Visit>
__device__ inline void for_each(const fragment<matrix_a, M, N, K, T, Layout>&, Visit visit) {
  const uint32_t lane = __lane_id();
  if constexpr (is_operand<M>) check_operand<T, M, K>();
#pragma unroll
  for (uint32_t i = 0; i < M * K / 64; ++i) {
    if constexpr (is_operand<M>)
      visit(i, lane % M, depth_of<T, M>(lane, i));
    else
      visit(i, (i * 64 + lane) % M, (i * 64 + lane) / M);
  }
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout, class Visit>
__device__ inline void for_each(const fragment<matrix_b, M, N, K, T, Layout>&, Visit visit) {
  const uint32_t lane = __lane_id();
  if constexpr (is_operand<N>) check_operand<T, N, K>();
#pragma unroll
  for (uint32_t i = 0; i < K * N / 64; ++i) {
    if constexpr (is_operand<N>)
      visit(i, depth_of<T, N>(lane, i), lane % N);
    else
      visit(i, (i * 64 + lane) / N, (i * 64 + lane) % N);
  }
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout, class Visit>
__device__ inline void for_each(const fragment<accumulator, M, N, K, T, Layout>&, Visit visit) {
  const uint32_t lane = __lane_id();
#pragma unroll
  for (uint32_t i = 0; i < M * N / 64; ++i)
    visit(i, hipshared::matrix::row_of<M, std::is_same_v<T, double>>(lane, i), lane % N);
}

// After a store, every lane of the wave sees the whole fragment, as on a GPU, whose lanes run in lockstep.
__device__ inline void wait_for_wave(int line) { (void)hiptarget::vote(true, line); }

template <class Fragment, class T>
__device__ inline void load(Fragment& frag, const T* data, uint32_t stride, bool by_rows) {
  for_each(frag, [&](uint32_t i, uint32_t row, uint32_t column) {
    frag.x[i] = data[by_rows ? row * stride + column : column * stride + row];
  });
}

}  // namespace detail

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<Kind, M, N, K, T, Layout>& frag, const T* data, uint32_t stride) {
  static_assert(!std::is_same_v<Layout, void>, "a fragment without a layout needs the argument layout_t");
  detail::load(frag, data, stride, detail::is_row_major<Layout>);
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<accumulator, M, N, K, T, Layout>& frag, const T* data, uint32_t stride,
                                        layout_t layout) {
  detail::load(frag, data, stride, layout == mem_row_major);
}

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_sync(T* data, const fragment<Kind, M, N, K, T, Layout>& frag, uint32_t stride,
                                         int line = __builtin_LINE()) {
  static_assert(!std::is_same_v<Layout, void>, "a fragment without a layout needs the argument layout_t");
  detail::for_each(frag, [&](uint32_t i, uint32_t row, uint32_t column) {
    data[detail::is_row_major<Layout> ? row * stride + column : column * stride + row] = frag.x[i];
  });
  detail::wait_for_wave(line);
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_sync(T* data, const fragment<accumulator, M, N, K, T, Layout>& frag, uint32_t stride,
                                         layout_t layout, int line = __builtin_LINE()) {
  detail::for_each(frag, [&](uint32_t i, uint32_t row, uint32_t column) {
    data[layout == mem_row_major ? row * stride + column : column * stride + row] = frag.x[i];
  });
  detail::wait_for_wave(line);
}

// D = A * B + C. Sums are float, double or int32; an accumulator of another type is converted before and after.
template <uint32_t M, uint32_t N, uint32_t K, class T, class Sum, class LayoutA, class LayoutB, class LayoutC, class LayoutD>
__device__ inline void mma_sync(fragment<accumulator, M, N, K, Sum, LayoutD>& d,
                                const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                const fragment<accumulator, M, N, K, Sum, LayoutC>& c, int line = __builtin_LINE()) {
  static_assert(M == N && detail::is_operand<M>, "rocWMMA on gfx942 has products of 16x16 and of 32x32");
  using Step = detail::StepOf<T, M>;
  detail::check_operand<T, M, K>();
  using Computed = typename hipshared::matrix::SumOf<T>::type;
  typename Step::Sums sums;
#pragma unroll
  for (uint32_t i = 0; i < Step::kSums; ++i) sums[i] = static_cast<Computed>(c.x[i]);
#pragma unroll
  for (uint32_t step = 0; step < K / Step::kDepth; ++step)
    sums = Step::multiply(a.x + step * Step::kItems, b.x + step * Step::kItems, sums, line);
#pragma unroll
  for (uint32_t i = 0; i < Step::kSums; ++i) d.x[i] = static_cast<Sum>(sums[i]);
}

__device__ inline void synchronize_workgroup(int line = __builtin_LINE()) { hiptarget::wait_for_block(line); }

}  // namespace rocwmma
