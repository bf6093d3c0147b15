// Builtins by which the lanes of a wave read each other's registers.
//
// Each lane passes a word together with a bit that is always set, so that the votes of the operation are the active
// lanes, which are the EXEC mask of the GPU.
#pragma once

#include <hipcpu/builtins/words.h>
#include <hipcpu/ext_vector.h>
#include <hipcpu/wave.h>

namespace hipcpu {

constexpr uint64_t kPresent = uint64_t{1} << 32;
constexpr unsigned kIndexShift = 40;

inline __attribute__((always_inline)) void pass_word(uint32_t word, int line, uint32_t index = 0) {
  wait_for_wave(site_of(line, Meeting::kLanes), kPresent | word | uint64_t{index} << kIndexShift);
}
inline uint64_t active_lanes() { return received().votes; }
inline bool is_active(uint32_t lane) { return received().votes >> lane & 1; }
inline uint32_t first_lane() { return static_cast<uint32_t>(__builtin_ctzll(received().votes)); }
inline uint32_t word_of(uint32_t lane) { return static_cast<uint32_t>(received().value[lane]); }

// DPP

struct DppControl {
  unsigned value;
  template <class T>
  consteval DppControl(T given) : value(static_cast<unsigned>(given)) {
    const bool is_quad = value <= 0xff;
    const bool is_row = value > 0x100 && value < 0x130 && value % 16 != 0;
    const bool is_wave = value >= 0x130 && value <= 0x13c && value % 4 == 0;
    if (!is_quad && !is_row && !is_wave && !(value >= 0x140 && value <= 0x143) && (value & ~15u) != 0x150)
      rejected_dpp_control();
  }
};
struct FourBits {
  unsigned value;
  template <class T>
  consteval FourBits(T given) : value(static_cast<unsigned>(given)) {
    if (value > 15) rejected_mask_of_four_bits();
  }
};

constexpr uint32_t kNoLane = ~0u;

// The lane that `lane` reads; kNoLane if it is outside the row or the wave.
constexpr uint32_t dpp_source(unsigned control, uint32_t lane) {
  const uint32_t row = lane & ~15u, in_row = lane & 15, amount = control & 15;
  if (control <= 0xff) return (lane & ~3u) | (control >> 2 * (lane & 3) & 3);
  switch (control & ~15u) {
    case 0x100: return in_row + amount < 16 ? lane + amount : kNoLane;
    case 0x110: return in_row >= amount ? lane - amount : kNoLane;
    case 0x120: return row | ((in_row - amount) & 15);
    case 0x150: return row | amount;
    default: break;
  }
  switch (control) {
    case 0x130: return lane < 63 ? lane + 1 : kNoLane;
    case 0x134: return (lane + 1) & 63;
    case 0x138: return lane > 0 ? lane - 1 : kNoLane;
    case 0x13c: return (lane - 1) & 63;
    case 0x140: return row | (15 - in_row);
    case 0x141: return (lane & ~7u) | (7 - (lane & 7));
    case 0x142: return row ? row - 1 : kNoLane;
    default: return lane > 31 ? 31 : kNoLane;
  }
}

// A lane whose source is outside the row or inactive gets 0 with `zero_if_invalid` and keeps `old` without it. A lane
// that a mask excludes keeps `old`.
template <class T>
inline T move_dpp(const T& old, const T& value, unsigned control, unsigned rows, unsigned banks, bool zero_if_invalid,
                  int line) {
  const uint32_t lane = __lane_id();
  const uint32_t source = dpp_source(control, lane);
  const bool writes = (rows >> lane / 16 & 1) && (banks >> lane % 16 / 4 & 1);
  Words<T> words = to_words(value);
  const Words<T> before = to_words(old);
  for (unsigned i = 0; i < words_of<T>; ++i) {
    pass_word(words.word[i], line);
    const bool valid = source != kNoLane && is_active(source);
#ifdef HIPCPU_CHECKED
    if (writes && source != kNoLane && !valid) hipcpu_checked_inactive(source, "a DPP operation", line);
#endif
    words.word[i] = !writes ? before.word[i] : valid ? word_of(source) : zero_if_invalid ? 0 : before.word[i];
  }
  return from_words(words);
}

}  // namespace hipcpu

template <class Old, class T>
HIPCPU_BUILTIN_TEMPLATE T __builtin_amdgcn_update_dpp(Old old, T value, hipcpu::DppControl control, hipcpu::FourBits row_mask,
                                            hipcpu::FourBits bank_mask, hipcpu::Constant bound_ctrl,
                                            int line = __builtin_LINE()) {
  static_assert(std::is_same_v<Old, T> || (std::is_integral_v<Old> && std::is_integral_v<T> && sizeof(Old) <= sizeof(T)),
                "the first two arguments of __builtin_amdgcn_update_dpp must have the same type");
  static_assert(sizeof(T) <= 8, "__builtin_amdgcn_update_dpp moves values of up to 8 bytes");
  return hipcpu::move_dpp(static_cast<T>(old), value, control.value, row_mask.value, bank_mask.value, bound_ctrl != 0,
                          line);
}
// The value of a lane that is not written is undefined; here it is 0.
template <class T>
HIPCPU_BUILTIN_TEMPLATE T __builtin_amdgcn_mov_dpp(T value, hipcpu::DppControl control, hipcpu::FourBits row_mask,
                                         hipcpu::FourBits bank_mask, hipcpu::Constant bound_ctrl,
                                         int line = __builtin_LINE()) {
  return hipcpu::move_dpp(T{}, value, control.value, row_mask.value, bank_mask.value, bound_ctrl != 0, line);
}

// Single lanes

static inline int __builtin_amdgcn_readfirstlane(int value, int line = __builtin_LINE()) {
  hipcpu::pass_word(static_cast<uint32_t>(value), line);
  return static_cast<int>(hipcpu::word_of(hipcpu::first_lane()));
}
// The index must be the same in all lanes; the first lane's is used.
static inline int __builtin_amdgcn_readlane(int value, int index, int line = __builtin_LINE()) {
  hipcpu::pass_word(static_cast<uint32_t>(value), line, static_cast<uint32_t>(index) & 63);
  const auto source = static_cast<uint32_t>(hipcpu::received().value[hipcpu::first_lane()] >> hipcpu::kIndexShift);
#ifdef HIPCPU_CHECKED
  if (!hipcpu::is_active(source)) return static_cast<int>(hipcpu_checked_shuffle(source, line));
#endif
  return static_cast<int>(hipcpu::word_of(source));
}
namespace hipcpu {

// v_writelane_b32; clang has no builtin for it, only the intrinsic.
inline int write_lane(int value, int index, int old, int line) {
  pass_word(static_cast<uint32_t>(value), line, static_cast<uint32_t>(index) & 63);
  const uint64_t first = received().value[first_lane()];
  return first >> kIndexShift == __lane_id() ? static_cast<int>(first) : old;
}

inline int intrinsic_writelane(int value, int index, int old, int line = __builtin_LINE()) {
  return write_lane(value, index, old, line);
}

}  // namespace hipcpu

// Permutations by way of LDS, which use no memory

// Lane i gets the value of lane index/4; 0 if that lane is inactive.
static inline int __builtin_amdgcn_ds_bpermute(int index, int value, int line = __builtin_LINE()) {
  const uint32_t source = static_cast<uint32_t>(index) / 4 % hipcpu::kWaveSize;
  hipcpu::pass_word(static_cast<uint32_t>(value), line);
  if (hipcpu::is_active(source)) return static_cast<int>(hipcpu::word_of(source));
#ifdef HIPCPU_CHECKED
  hipcpu_checked_inactive(source, "ds_bpermute", line);
#endif
  return 0;
}
// Lane i passes its value to lane index/4. If several lanes pass to the same lane, the highest one is used
// here; on a GPU this is not defined.
static inline int __builtin_amdgcn_ds_permute(int index, int value, int line = __builtin_LINE()) {
  hipcpu::pass_word(static_cast<uint32_t>(value), line, static_cast<uint32_t>(index) / 4 % hipcpu::kWaveSize);
  const uint32_t lane = __lane_id();
  uint32_t result = 0;
  for (uint64_t rest = hipcpu::active_lanes(); rest; rest &= rest - 1) {
    const auto from = static_cast<uint32_t>(__builtin_ctzll(rest));
    if (hipcpu::received().value[from] >> hipcpu::kIndexShift == lane) result = hipcpu::word_of(from);
  }
  return static_cast<int>(result);
}

namespace hipcpu {

struct SwizzlePattern {
  unsigned value;
  template <class T>
  consteval SwizzlePattern(T given) : value(static_cast<unsigned>(given)) {
    if (value > 0xffff || value >= 0xe000) rejected_swizzle_pattern();
  }
};

constexpr uint32_t swizzle_source(unsigned pattern, uint32_t lane) {
  if (pattern >= 0xc000) {  // rotates groups of lanes
    const uint32_t mask = pattern & 31, distance = pattern >> 5 & 31;
    const uint32_t moved = pattern >> 10 & 1 ? lane - distance : lane + distance;
    return (lane & 32) | (lane & mask) | (moved & 31 & ~mask);
  }
  if (pattern >= 0x8000) return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
  return (lane & 32) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

}  // namespace hipcpu

static inline int __builtin_amdgcn_ds_swizzle(int value, hipcpu::SwizzlePattern pattern, int line = __builtin_LINE()) {
  const uint32_t source = hipcpu::swizzle_source(pattern.value, __lane_id());
  hipcpu::pass_word(static_cast<uint32_t>(value), line);
  if (hipcpu::is_active(source)) return static_cast<int>(hipcpu::word_of(source));
#ifdef HIPCPU_CHECKED
  hipcpu_checked_inactive(source, "ds_swizzle", line);
#endif
  return 0;
}

#ifdef HIPCPU_GFX950
namespace hipcpu {

// Exchanges the odd rows of `first` with the even rows of `second`; a row has `lanes` lanes. A value whose partner is
// inactive stays.
inline ext_vector<unsigned, 2> swap_rows(uint32_t first, uint32_t second, unsigned lanes, const char* what, int line) {
  const uint32_t lane = __lane_id(), partner = lane ^ lanes;
  pass_word(first, line);
  const uint32_t partners_first = word_of(partner);
  pass_word(second, line);
  const uint32_t partners_second = word_of(partner);
  if (!is_active(partner)) {
#ifdef HIPCPU_CHECKED
    hipcpu_checked_inactive(partner, what, line);
#endif
    return {first, second};
  }
  if (lane & lanes) return {partners_second, second};
  return {first, partners_first};
}

}  // namespace hipcpu

static inline hipcpu::ext_vector<unsigned, 2> __builtin_amdgcn_permlane16_swap(unsigned first, unsigned second,
                                                                               hipcpu::Constant, hipcpu::Constant,
                                                                               int line = __builtin_LINE()) {
  return hipcpu::swap_rows(first, second, 16, "permlane16_swap", line);
}
static inline hipcpu::ext_vector<unsigned, 2> __builtin_amdgcn_permlane32_swap(unsigned first, unsigned second,
                                                                               hipcpu::Constant, hipcpu::Constant,
                                                                               int line = __builtin_LINE()) {
  return hipcpu::swap_rows(first, second, 32, "permlane32_swap", line);
}
#endif

// Masks of lanes

static inline unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
  const uint32_t lane = __lane_id();
  const uint32_t below = lane >= 32 ? ~0u : (1u << lane) - 1;
  return static_cast<unsigned>(__builtin_popcount(mask & below)) + add;
}
static inline unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add) {
  const uint32_t lane = __lane_id();
  const uint32_t below = lane >= 32 ? (1u << (lane - 32)) - 1 : 0;
  return static_cast<unsigned>(__builtin_popcount(mask & below)) + add;
}

static inline uint64_t __builtin_amdgcn_ballot_w64(bool predicate, int line = __builtin_LINE()) {
  return hipcpu::vote(predicate, line);
}
static inline uint64_t __builtin_amdgcn_read_exec(int line = __builtin_LINE()) { return hipcpu::vote(true, line); }
static inline unsigned __builtin_amdgcn_read_exec_lo(int line = __builtin_LINE()) {
  return static_cast<unsigned>(hipcpu::vote(true, line));
}
static inline unsigned __builtin_amdgcn_read_exec_hi(int line = __builtin_LINE()) {
  return static_cast<unsigned>(hipcpu::vote(true, line) >> 32);
}
static inline bool __builtin_amdgcn_inverse_ballot_w64(uint64_t mask) { return mask >> __lane_id() & 1; }

namespace hipcpu {

// The codes of LLVM's comparisons.
struct IntegerComparison {
  int value;
  template <class T>
  consteval IntegerComparison(T given) : value(static_cast<int>(given)) {
    if (value < 32 || value > 41) rejected_comparison();
  }
};
struct FloatComparison {
  int value;
  template <class T>
  consteval FloatComparison(T given) : value(static_cast<int>(given)) {
    if (value < 1 || value > 14) rejected_comparison();
  }
};

template <class U>
inline bool compare_integers(U a, U b, int how) {
  using S = std::make_signed_t<U>;
  const S sa = static_cast<S>(a), sb = static_cast<S>(b);
  switch (how) {
    case 32: return a == b;
    case 33: return a != b;
    case 34: return a > b;
    case 35: return a >= b;
    case 36: return a < b;
    case 37: return a <= b;
    case 38: return sa > sb;
    case 39: return sa >= sb;
    case 40: return sa < sb;
    default: return sa <= sb;
  }
}
// Bits of the code: equal, greater, less, unordered.
template <class F>
inline bool compare_floats(F a, F b, int how) {
  return (how & 1 && a == b) || (how & 2 && a > b) || (how & 4 && a < b) || (how & 8 && (a != a || b != b));
}

}  // namespace hipcpu

static inline uint64_t __builtin_amdgcn_uicmp(unsigned a, unsigned b, hipcpu::IntegerComparison how,
                                              int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_integers(a, b, how.value), line);
}
static inline uint64_t __builtin_amdgcn_uicmpl(uint64_t a, uint64_t b, hipcpu::IntegerComparison how,
                                               int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_integers(a, b, how.value), line);
}
static inline uint64_t __builtin_amdgcn_sicmp(int a, int b, hipcpu::IntegerComparison how, int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_integers(static_cast<unsigned>(a), static_cast<unsigned>(b), how.value), line);
}
static inline uint64_t __builtin_amdgcn_sicmpl(int64_t a, int64_t b, hipcpu::IntegerComparison how,
                                               int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_integers(static_cast<uint64_t>(a), static_cast<uint64_t>(b), how.value), line);
}
static inline uint64_t __builtin_amdgcn_fcmp(double a, double b, hipcpu::FloatComparison how,
                                             int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_floats(a, b, how.value), line);
}
static inline uint64_t __builtin_amdgcn_fcmpf(float a, float b, hipcpu::FloatComparison how,
                                              int line = __builtin_LINE()) {
  return hipcpu::vote(hipcpu::compare_floats(a, b, how.value), line);
}

// Reductions over the active lanes; every lane gets the result.

namespace hipcpu {

template <class T, class F>
inline T reduce_wave(T value, T start, F f, int line) {
  const uint64_t lanes = vote(true, line);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  wait_for_wave(site_of(line, Meeting::kLanes), bits);
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    T other;
    const uint64_t passed = received().value[__builtin_ctzll(rest)];
    __builtin_memcpy(&other, &passed, sizeof(T));
    start = f(start, other);
  }
  return start;
}

}  // namespace hipcpu

#define HIPCPU_WAVE_REDUCTION(name, T, start, expression)                                                      \
  static inline T __builtin_amdgcn_wave_reduce_##name(T value, hipcpu::Constant, int line = __builtin_LINE()) { \
    return hipcpu::reduce_wave<T>(value, start, [](T a, T b) -> T { return expression; }, line);              \
  }
HIPCPU_WAVE_REDUCTION(add_u32, uint32_t, 0, a + b)
HIPCPU_WAVE_REDUCTION(add_u64, uint64_t, 0, a + b)
HIPCPU_WAVE_REDUCTION(sub_u32, uint32_t, 0, a - b)
HIPCPU_WAVE_REDUCTION(sub_u64, uint64_t, 0, a - b)
HIPCPU_WAVE_REDUCTION(min_i32, int32_t, INT32_MAX, b < a ? b : a)
HIPCPU_WAVE_REDUCTION(min_u32, uint32_t, UINT32_MAX, b < a ? b : a)
HIPCPU_WAVE_REDUCTION(min_i64, int64_t, INT64_MAX, b < a ? b : a)
HIPCPU_WAVE_REDUCTION(min_u64, uint64_t, UINT64_MAX, b < a ? b : a)
HIPCPU_WAVE_REDUCTION(max_i32, int32_t, INT32_MIN, b > a ? b : a)
HIPCPU_WAVE_REDUCTION(max_u32, uint32_t, 0, b > a ? b : a)
HIPCPU_WAVE_REDUCTION(max_i64, int64_t, INT64_MIN, b > a ? b : a)
HIPCPU_WAVE_REDUCTION(max_u64, uint64_t, 0, b > a ? b : a)
HIPCPU_WAVE_REDUCTION(and_b32, uint32_t, ~0u, a & b)
HIPCPU_WAVE_REDUCTION(and_b64, uint64_t, ~uint64_t{0}, a & b)
HIPCPU_WAVE_REDUCTION(or_b32, uint32_t, 0, a | b)
HIPCPU_WAVE_REDUCTION(or_b64, uint64_t, 0, a | b)
HIPCPU_WAVE_REDUCTION(xor_b32, uint32_t, 0, a ^ b)
HIPCPU_WAVE_REDUCTION(xor_b64, uint64_t, 0, a ^ b)
#undef HIPCPU_WAVE_REDUCTION
