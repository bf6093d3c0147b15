// Buffer accesses with a descriptor, and loads from global memory to LDS.
// The descriptor has an address, a size in bytes and flags. A read beyond the size gives 0, and a write has
// no effect. The range is checked per word of four bytes.
#pragma once

#include <hipcpu/atomics.h>
#include <hipcpu/builtins/address_space.h>
#include <hipcpu/builtins/words.h>
#include <hipcpu/wave.h>

struct __amdgpu_buffer_rsrc_t {
  uint32_t word[4];
};

extern "C" [[noreturn]] void hipcpu_kernel_fault(const char* kind, const char* detail);

namespace hipcpu {

typedef uint8_t AnyByte __attribute__((may_alias));
typedef uint16_t AnyHalf __attribute__((aligned(1), may_alias));
typedef uint32_t AnyWord __attribute__((aligned(1), may_alias));

struct Buffer {
  char* base;
  uint64_t bytes;
};

// The layout of a descriptor: 48 bits of address, 14 bits of stride, the size, and flags with a data format.
template <class Descriptor>
inline Buffer open_buffer(const Descriptor& descriptor) {
  static_assert(sizeof(Descriptor) == 16, "a buffer descriptor has 16 bytes");
  uint32_t word[4];
  __builtin_memcpy(word, &descriptor, 16);
  const uint64_t address = (uint64_t{word[1]} & 0xffff) << 32 | word[0];
  if (address % 4)
    hipcpu_kernel_fault("misaligned-access", "the address of a buffer descriptor must be a multiple of 4");
  if (word[1] >> 16)
    hipcpu_kernel_fault("unsupported", "a buffer descriptor with a stride or a swizzle runs on a GPU only: pass the stride 0");
  if ((word[3] >> 15 & 15) == 0)
    hipcpu_kernel_fault("unsupported",
                        "a buffer descriptor without a data format reads nothing on a GPU: pass the flags 0x00027000");
  if (word[3] >> 23 & 1)
    hipcpu_kernel_fault("unsupported", "a buffer descriptor that adds the thread index runs on a GPU only");
  return {reinterpret_cast<char*>(address), word[2]};
}

// The address of `bytes` bytes; null if they are out of range.
inline char* place_in(const Buffer& buffer, uint32_t offset, uint32_t scalar_offset, uint32_t bytes, bool writes) {
  const uint64_t at = uint64_t{offset} + scalar_offset;
  if (at + bytes <= buffer.bytes) return buffer.base + at;
#ifdef HIPCPU_CHECKED
  hipcpu_checked_buffer(at, bytes, buffer.bytes, writes);
#else
  (void)writes;
#endif
  return nullptr;
}

inline uint32_t load_part(const char* from, unsigned bytes) {
  if (!from) return 0;
  if (bytes == 1) return *reinterpret_cast<const AnyByte*>(from);
  if (bytes == 2) return *reinterpret_cast<const AnyHalf*>(from);
  return *reinterpret_cast<const AnyWord*>(from);
}
inline void store_part(char* to, uint32_t value, unsigned bytes) {
  if (!to) return;
  if (bytes == 1) *reinterpret_cast<AnyByte*>(to) = static_cast<uint8_t>(value);
  else if (bytes == 2) *reinterpret_cast<AnyHalf*>(to) = static_cast<uint16_t>(value);
  else *reinterpret_cast<AnyWord*>(to) = value;
}

template <unsigned N, class Descriptor>
inline Register<N> load_buffer(const Descriptor& descriptor, int offset, int scalar_offset) {
  const Buffer buffer = open_buffer(descriptor);
  constexpr unsigned kPart = N < 4 ? N : 4;
  Register<N> result;
  for (unsigned i = 0; i < N; i += kPart)
    result.word[i / 4] = load_part(
        place_in(buffer, static_cast<uint32_t>(offset) + i, static_cast<uint32_t>(scalar_offset), kPart, false), kPart);
  return result;
}

template <class T, class Descriptor>
inline void store_buffer(const T& value, const Descriptor& descriptor, int offset, int scalar_offset) {
  const Buffer buffer = open_buffer(descriptor);
  constexpr unsigned kPart = sizeof(T) < 4 ? sizeof(T) : 4;
  const Words<T> words = to_words(value);
  for (unsigned i = 0; i < sizeof(T); i += kPart)
    store_part(place_in(buffer, static_cast<uint32_t>(offset) + i, static_cast<uint32_t>(scalar_offset), kPart, true),
               words.word[i / 4], kPart);
}

// An atomic that is out of range does nothing and returns 0.
template <class T, class Descriptor, class F>
inline T update_buffer(const Descriptor& descriptor, int offset, int scalar_offset, F f) {
  char* place = place_in(open_buffer(descriptor), static_cast<uint32_t>(offset), static_cast<uint32_t>(scalar_offset),
                         sizeof(T), true);
  return place ? atomic_update(reinterpret_cast<T*>(place), f) : T{};
}

inline float float_of_half(uint32_t bits) {
  _Float16 half;
  const auto low = static_cast<uint16_t>(bits);
  __builtin_memcpy(&half, &low, 2);
  return static_cast<float>(half);
}
inline uint32_t half_of_float(float value) {
  const auto half = static_cast<_Float16>(value);
  uint16_t bits;
  __builtin_memcpy(&bits, &half, 2);
  return bits;
}
inline uint32_t bfloat_of_float(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if (value != value) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline uint32_t add_halves(uint32_t a, uint32_t b) {
  return half_of_float(float_of_half(a) + float_of_half(b)) |
         half_of_float(float_of_half(a >> 16) + float_of_half(b >> 16)) << 16;
}
inline uint32_t add_bfloats(uint32_t a, uint32_t b) {
  const auto wide = [](uint32_t bits) { return __builtin_bit_cast(float, bits << 16); };
  return bfloat_of_float(wide(a & 0xffff) + wide(b & 0xffff)) | bfloat_of_float(wide(a >> 16) + wide(b >> 16)) << 16;
}

// Loads to LDS: each lane's bytes are written at the first lane's address, plus the size per lane.

constexpr bool has_lds_load(unsigned bytes) {
#ifdef HIPCPU_GFX950
  return bytes == 4 || bytes == 12 || bytes == 16;
#else
  return bytes == 4;
#endif
}

struct LdsLoadSize {
  unsigned value;
  template <class T>
  consteval LdsLoadSize(T given) : value(static_cast<unsigned>(given)) {
    if (!has_lds_load(value)) rejected_lds_load_size();
  }
};

inline char* lds_target(const void* lds, unsigned size, int line) {
  wait_for_wave(site_of(line, Meeting::kLanes), reinterpret_cast<uint64_t>(lds));
  const uint64_t first = received().value[__builtin_ctzll(received().votes)];
  return reinterpret_cast<char*>(first) + __lane_id() * size;
}

inline void finish_lds_load(char* to, unsigned bytes) {
#ifdef HIPCPU_CHECKED
  hipcpu_checked_lds_load(to, bytes);
#else
  (void)to;
  (void)bytes;
#endif
}

template <class Descriptor>
inline void load_buffer_to_lds(const Descriptor& descriptor, void* lds, unsigned size, int offset, int scalar_offset,
                               int immediate, int line) {
  char* to = lds_target(lds, size, line) + immediate;
  const Buffer buffer = open_buffer(descriptor);
  for (unsigned i = 0; i < size; i += 4) {
    const auto at = static_cast<uint32_t>(offset + immediate) + i;
    store_part(to + i, load_part(place_in(buffer, at, static_cast<uint32_t>(scalar_offset), 4, false), 4), 4);
  }
  finish_lds_load(to, size);
}

// The result of llvm.amdgcn.raw.buffer.load, which authors declare with a type of their choice.
template <class Descriptor>
struct PendingLoad {
  const Descriptor& descriptor;
  int offset, scalar_offset;
  template <class T>
  operator T() const {
    return load_buffer<sizeof(T)>(descriptor, offset, scalar_offset);
  }
};
template <class Descriptor>
inline PendingLoad<Descriptor> intrinsic_buffer_load(const Descriptor& descriptor, int offset, int scalar_offset, int = 0) {
  return {descriptor, offset, scalar_offset};
}
template <class T, class Descriptor>
inline void intrinsic_buffer_store(const T& value, const Descriptor& descriptor, int offset, int scalar_offset, int = 0) {
  store_buffer(value, descriptor, offset, scalar_offset);
}
template <class Descriptor>
inline void intrinsic_buffer_load_lds(const Descriptor& descriptor, void* lds, int size, int offset, int scalar_offset,
                                      int immediate, int = 0, int line = __builtin_LINE()) {
  const auto bytes = static_cast<unsigned>(size);
  if (!has_lds_load(bytes))
    hipcpu_kernel_fault("unsupported", "loads to LDS have 4 bytes per lane on gfx942, and 4, 12 or 16 on gfx950");
  load_buffer_to_lds(descriptor, lds, bytes, offset, scalar_offset, immediate, line);
}
template <class T, class Descriptor>
inline T intrinsic_buffer_atomic_fadd(T value, const Descriptor& descriptor, int offset, int scalar_offset, int = 0) {
  if constexpr (std::is_floating_point_v<T>) {
    return update_buffer<T>(descriptor, offset, scalar_offset, [=](T old) { return old + value; });
  } else {
    static_assert(sizeof(T) == 4, "this type of an atomic buffer addition runs on a GPU only");
    const uint32_t added = low_word(value);
    const uint32_t old = update_buffer<uint32_t>(descriptor, offset, scalar_offset,
                                                 [=](uint32_t before) { return add_halves(before, added); });
    return Register<4>{{old}};
  }
}
template <class T, class Descriptor>
inline T intrinsic_buffer_atomic_add(T value, const Descriptor& descriptor, int offset, int scalar_offset, int = 0) {
  return update_buffer<T>(descriptor, offset, scalar_offset, [=](T old) { return static_cast<T>(old + value); });
}

}  // namespace hipcpu

static inline __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(const void* base, short stride, int64_t bytes,
                                                                       int flags) {
  const auto address = reinterpret_cast<uint64_t>(base);
  return {{static_cast<uint32_t>(address),
           (static_cast<uint32_t>(address >> 32) & 0xffff) | static_cast<uint32_t>(stride & 0x3fff) << 16,
           static_cast<uint32_t>(bytes), static_cast<uint32_t>(flags)}};
}

#define HIPCPU_BUFFER_ACCESS(bits, T)                                                                                \
  static inline T __builtin_amdgcn_raw_buffer_load_b##bits(__amdgpu_buffer_rsrc_t buffer, int offset, int scalar_offset, \
                                                           hipcpu::Constant) {                                       \
    return hipcpu::load_buffer<bits / 8>(buffer, offset, scalar_offset);                                             \
  }                                                                                                                  \
  template <class Value>                                                                                             \
  HIPCPU_BUILTIN_TEMPLATE void __builtin_amdgcn_raw_buffer_store_b##bits(const Value& value, __amdgpu_buffer_rsrc_t buffer, \
                                                               int offset, int scalar_offset, hipcpu::Constant) {    \
    if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<T> && sizeof(Value) != bits / 8) {             \
      hipcpu::store_buffer(static_cast<T>(value), buffer, offset, scalar_offset);                                    \
    } else {                                                                                                         \
      static_assert(sizeof(Value) == bits / 8, "the value must have " #bits " bits");                                \
      hipcpu::store_buffer(value, buffer, offset, scalar_offset);                                                    \
    }                                                                                                                \
  }
HIPCPU_BUFFER_ACCESS(8, uint8_t)
HIPCPU_BUFFER_ACCESS(16, uint16_t)
HIPCPU_BUFFER_ACCESS(32, uint32_t)
HIPCPU_BUFFER_ACCESS(64, hipcpu::Register<8>)
HIPCPU_BUFFER_ACCESS(96, hipcpu::Register<12>)
HIPCPU_BUFFER_ACCESS(128, hipcpu::Register<16>)
#undef HIPCPU_BUFFER_ACCESS

static inline int __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(int value, __amdgpu_buffer_rsrc_t buffer, int offset,
                                                                 int scalar_offset, hipcpu::Constant) {
  return hipcpu::intrinsic_buffer_atomic_add(value, buffer, offset, scalar_offset);
}
static inline float __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(float value, __amdgpu_buffer_rsrc_t buffer, int offset,
                                                                    int scalar_offset, hipcpu::Constant) {
  return hipcpu::intrinsic_buffer_atomic_fadd(value, buffer, offset, scalar_offset);
}
template <class T>
HIPCPU_BUILTIN_TEMPLATE T __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_v2f16(T value, __amdgpu_buffer_rsrc_t buffer, int offset,
                                                                  int scalar_offset, hipcpu::Constant) {
  return hipcpu::intrinsic_buffer_atomic_fadd(value, buffer, offset, scalar_offset);
}
static inline double __builtin_amdgcn_raw_ptr_buffer_atomic_fmin_f64(double value, __amdgpu_buffer_rsrc_t buffer,
                                                                     int offset, int scalar_offset, hipcpu::Constant) {
  return hipcpu::update_buffer<double>(buffer, offset, scalar_offset, [=](double old) { return std::fmin(old, value); });
}
static inline double __builtin_amdgcn_raw_ptr_buffer_atomic_fmax_f64(double value, __amdgpu_buffer_rsrc_t buffer,
                                                                     int offset, int scalar_offset, hipcpu::Constant) {
  return hipcpu::update_buffer<double>(buffer, offset, scalar_offset, [=](double old) { return std::fmax(old, value); });
}

static inline void __builtin_amdgcn_raw_ptr_buffer_load_lds(__amdgpu_buffer_rsrc_t buffer, void* lds,
                                                            hipcpu::LdsLoadSize size, int offset, int scalar_offset,
                                                            hipcpu::Constant immediate, hipcpu::Constant,
                                                            int line = __builtin_LINE()) {
  hipcpu::load_buffer_to_lds(buffer, lds, size.value, offset, scalar_offset, immediate.value, line);
}
// The constant offset is added to both addresses.
static inline void __builtin_amdgcn_global_load_lds(const void* from, void* lds, hipcpu::LdsLoadSize size,
                                                    hipcpu::Constant offset, hipcpu::Constant,
                                                    int line = __builtin_LINE()) {
  char* to = hipcpu::lds_target(lds, size.value, line) + offset.value;
  for (unsigned i = 0; i < size.value; i += 4)
    hipcpu::store_part(to + i, hipcpu::load_part(static_cast<const char*>(from) + offset.value + i, 4), 4);
  hipcpu::finish_lds_load(to, size.value);
}
static inline void __builtin_amdgcn_load_to_lds(const void* from, void* lds, hipcpu::LdsLoadSize size,
                                                hipcpu::Constant offset, hipcpu::Constant policy,
                                                int line = __builtin_LINE()) {
  __builtin_amdgcn_global_load_lds(from, lds, size, offset, policy, line);
}

// Atomics on pointers

#define HIPCPU_FLOAT_ATOMICS(space)                                                                          \
  static inline float __builtin_amdgcn_##space##_atomic_fadd_f32(float* place, float value) {                \
    return hipcpu::atomic_update(place, [=](float old) { return old + value; });                             \
  }                                                                                                          \
  static inline double __builtin_amdgcn_##space##_atomic_fadd_f64(double* place, double value) {             \
    return hipcpu::atomic_update(place, [=](double old) { return old + value; });                            \
  }                                                                                                          \
  template <class P, class V>                                                                                \
  HIPCPU_BUILTIN_TEMPLATE V __builtin_amdgcn_##space##_atomic_fadd_v2f16(P* place, V value) {                \
    const uint32_t added = hipcpu::low_word(value);                                                          \
    return hipcpu::Register<4>{{hipcpu::atomic_update(reinterpret_cast<uint32_t*>(place),                    \
                                                      [=](uint32_t old) { return hipcpu::add_halves(old, added); })}}; \
  }                                                                                                          \
  template <class P, class V>                                                                                \
  HIPCPU_BUILTIN_TEMPLATE V __builtin_amdgcn_##space##_atomic_fadd_v2bf16(P* place, V value) {               \
    const uint32_t added = hipcpu::low_word(value);                                                          \
    return hipcpu::Register<4>{{hipcpu::atomic_update(reinterpret_cast<uint32_t*>(place),                    \
                                                      [=](uint32_t old) { return hipcpu::add_bfloats(old, added); })}}; \
  }
HIPCPU_FLOAT_ATOMICS(global)
HIPCPU_FLOAT_ATOMICS(flat)
HIPCPU_FLOAT_ATOMICS(ds)
#undef HIPCPU_FLOAT_ATOMICS
#define HIPCPU_BOUND_ATOMICS(space)                                                                \
  static inline double __builtin_amdgcn_##space##_atomic_fmin_f64(double* place, double value) {   \
    return hipcpu::atomic_update(place, [=](double old) { return std::fmin(old, value); });        \
  }                                                                                                \
  static inline double __builtin_amdgcn_##space##_atomic_fmax_f64(double* place, double value) {   \
    return hipcpu::atomic_update(place, [=](double old) { return std::fmax(old, value); });        \
  }
HIPCPU_BOUND_ATOMICS(global)
HIPCPU_BOUND_ATOMICS(flat)
#undef HIPCPU_BOUND_ATOMICS
