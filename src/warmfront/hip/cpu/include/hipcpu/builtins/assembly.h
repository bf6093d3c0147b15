// The instructions of inline assembly that the rewriter knows (source/inline_assembly.py). The first argument is the
// destination, as in the assembly; operands are registers, which are words without a type.
#pragma once

#include <hipcpu/builtins/arithmetic.h>
#include <hipcpu/builtins/buffers.h>
#include <hipcpu/builtins/conversions.h>
#include <hipcpu/builtins/lanes.h>
#include <hipcpu/builtins/scheduling.h>
#include <hipcpu/launch.h>

namespace hipcpu::gcn {

struct Bits {
  uint32_t value;
  explicit constexpr Bits(uint32_t bits) : value(bits) {}
};

template <class T>
inline uint32_t word(const T& operand) {
  static_assert(sizeof(T) <= 4, "this operand needs a value of 4 bytes");
  return low_word(operand);
}
template <class T>
inline float number(const T& operand) {
  return __builtin_bit_cast(float, word(operand));
}
template <class D>
inline void put(D& to, uint32_t value) {
  static_assert(sizeof(D) <= 4 && std::is_trivially_copyable_v<D>, "this destination needs a variable of 4 bytes");
  __builtin_memcpy(&to, &value, sizeof(D));
}
template <class D>
inline void put_number(D& to, float value) {
  put(to, __builtin_bit_cast(uint32_t, value));
}
// An input that shares the register of an output.
template <class D, class T>
inline void tie(D& to, const T& value) {
  static_assert(sizeof(D) == sizeof(T), "operands that share a register must have the same size");
  __builtin_memcpy(&to, &value, sizeof(D));
}

#define HIPCPU_ONE(name, store, expression)  \
  template <class D, class A>                \
  inline void name(D& to, const A& p) {      \
    store(to, expression);                   \
  }
#define HIPCPU_TWO(name, store, expression)             \
  template <class D, class A, class B>                  \
  inline void name(D& to, const A& p, const B& q) {     \
    store(to, expression);                              \
  }
#define HIPCPU_THREE(name, store, expression)                       \
  template <class D, class A, class B, class C>                     \
  inline void name(D& to, const A& p, const B& q, const C& r) {     \
    store(to, expression);                                          \
  }

HIPCPU_ONE(v_mov_b32, put, word(p))
HIPCPU_ONE(s_mov_b32, put, word(p))
HIPCPU_ONE(v_not_b32, put, ~word(p))
HIPCPU_ONE(v_readfirstlane_b32, put, static_cast<uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(word(p)))))
HIPCPU_ONE(v_exp_f32, put_number, std::exp2(number(p)))
HIPCPU_ONE(v_log_f32, put_number, std::log2(number(p)))
HIPCPU_ONE(v_rcp_f32, put_number, 1.0f / number(p))
HIPCPU_ONE(v_rsq_f32, put_number, __builtin_amdgcn_rsqf(number(p)))
HIPCPU_ONE(v_sqrt_f32, put_number, std::sqrt(number(p)))
HIPCPU_ONE(v_floor_f32, put_number, std::floor(number(p)))
HIPCPU_ONE(v_cvt_f32_f16, put_number, float_of_half(word(p)))
HIPCPU_ONE(v_cvt_f16_f32, put, half_of_float(number(p)))
HIPCPU_ONE(v_cvt_f32_i32, put_number, static_cast<float>(static_cast<int32_t>(word(p))))
HIPCPU_ONE(v_cvt_f32_u32, put_number, static_cast<float>(word(p)))
HIPCPU_ONE(v_cvt_f32_fp8, put_number, __builtin_amdgcn_cvt_f32_fp8(static_cast<int>(word(p)), 0))
HIPCPU_ONE(v_cvt_f32_bf8, put_number, __builtin_amdgcn_cvt_f32_bf8(static_cast<int>(word(p)), 0))
HIPCPU_ONE(v_cvt_f32_ubyte0, put_number, static_cast<float>(word(p) & 0xff))
HIPCPU_ONE(v_cvt_f32_ubyte1, put_number, static_cast<float>(word(p) >> 8 & 0xff))
HIPCPU_ONE(v_cvt_f32_ubyte2, put_number, static_cast<float>(word(p) >> 16 & 0xff))
HIPCPU_ONE(v_cvt_f32_ubyte3, put_number, static_cast<float>(word(p) >> 24))
// Truncates and saturates; NaN is 0.
inline uint32_t to_signed(float x) {
  if (x != x) return 0;
  return static_cast<uint32_t>(x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : static_cast<int32_t>(x));
}
inline uint32_t to_unsigned(float x) { return !(x > 0) ? 0 : x >= 0x1p32f ? UINT32_MAX : static_cast<uint32_t>(x); }
HIPCPU_ONE(v_cvt_i32_f32, put, to_signed(number(p)))
HIPCPU_ONE(v_cvt_u32_f32, put, to_unsigned(number(p)))

HIPCPU_TWO(v_add_f32, put_number, number(p) + number(q))
HIPCPU_TWO(v_sub_f32, put_number, number(p) - number(q))
HIPCPU_TWO(v_mul_f32, put_number, number(p) * number(q))
HIPCPU_TWO(v_max_f32, put_number, std::fmax(number(p), number(q)))
HIPCPU_TWO(v_fmac_f32, put_number, std::fma(number(p), number(q), number(to)))
HIPCPU_TWO(v_min_f32, put_number, std::fmin(number(p), number(q)))
HIPCPU_TWO(v_add_u32, put, word(p) + word(q))
HIPCPU_TWO(v_sub_u32, put, word(p) - word(q))
HIPCPU_TWO(v_mul_lo_u32, put, word(p) * word(q))
HIPCPU_TWO(v_and_b32, put, word(p) & word(q))
HIPCPU_TWO(v_or_b32, put, word(p) | word(q))
HIPCPU_TWO(v_xor_b32, put, word(p) ^ word(q))
HIPCPU_TWO(v_lshlrev_b32, put, word(q) << (word(p) & 31))
HIPCPU_TWO(v_lshrrev_b32, put, word(q) >> (word(p) & 31))
HIPCPU_TWO(v_ashrrev_i32, put, static_cast<uint32_t>(static_cast<int32_t>(word(q)) >> (word(p) & 31)))
HIPCPU_TWO(v_max_i32, put, static_cast<int32_t>(word(p)) > static_cast<int32_t>(word(q)) ? word(p) : word(q))
HIPCPU_TWO(v_min_i32, put, static_cast<int32_t>(word(p)) < static_cast<int32_t>(word(q)) ? word(p) : word(q))
HIPCPU_TWO(v_max_u32, put, word(p) > word(q) ? word(p) : word(q))
HIPCPU_TWO(v_min_u32, put, word(p) < word(q) ? word(p) : word(q))
HIPCPU_TWO(v_cvt_pkrtz_f16_f32, put, low_word(__builtin_amdgcn_cvt_pkrtz(number(p), number(q))))
HIPCPU_TWO(v_mbcnt_lo_u32_b32, put, __builtin_amdgcn_mbcnt_lo(word(p), word(q)))
HIPCPU_TWO(v_mbcnt_hi_u32_b32, put, __builtin_amdgcn_mbcnt_hi(word(p), word(q)))
HIPCPU_TWO(ds_bpermute_b32, put,
           static_cast<uint32_t>(__builtin_amdgcn_ds_bpermute(static_cast<int>(word(p)), static_cast<int>(word(q)))))
HIPCPU_TWO(ds_permute_b32, put,
           static_cast<uint32_t>(__builtin_amdgcn_ds_permute(static_cast<int>(word(p)), static_cast<int>(word(q)))))
HIPCPU_TWO(v_dot2c_f32_f16, put_number, __builtin_amdgcn_fdot2(word(p), word(q), number(to), 0))
HIPCPU_TWO(v_cvt_pk_fp8_f32, put,
           static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_fp8_f32(number(p), number(q), static_cast<int>(word(to)), false)))
HIPCPU_TWO(v_cvt_pk_bf8_f32, put,
           static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_bf8_f32(number(p), number(q), static_cast<int>(word(to)), false)))
// Numbers of 16 bits, in the lower half of a register, whose upper half becomes 0.
HIPCPU_TWO(v_add_f16, put, half_of_float(float_of_half(word(p)) + float_of_half(word(q))))
HIPCPU_TWO(v_sub_f16, put, half_of_float(float_of_half(word(p)) - float_of_half(word(q))))
HIPCPU_TWO(v_mul_f16, put, half_of_float(float_of_half(word(p)) * float_of_half(word(q))))
HIPCPU_TWO(v_max_f16, put, half_of_float(std::fmax(float_of_half(word(p)), float_of_half(word(q)))))
HIPCPU_TWO(v_min_f16, put, half_of_float(std::fmin(float_of_half(word(p)), float_of_half(word(q)))))
HIPCPU_TWO(v_pk_max_f16, put,
           half_of_float(std::fmax(float_of_half(word(p)), float_of_half(word(q)))) |
               half_of_float(std::fmax(float_of_half(word(p) >> 16), float_of_half(word(q) >> 16))) << 16)
HIPCPU_TWO(v_pk_min_f16, put,
           half_of_float(std::fmin(float_of_half(word(p)), float_of_half(word(q)))) |
               half_of_float(std::fmin(float_of_half(word(p) >> 16), float_of_half(word(q) >> 16))) << 16)
HIPCPU_TWO(v_pk_add_f16, put, add_halves(word(p), word(q)))
HIPCPU_TWO(v_pk_mul_f16, put,
           half_of_float(float_of_half(word(p)) * float_of_half(word(q))) |
               half_of_float(float_of_half(word(p) >> 16) * float_of_half(word(q) >> 16)) << 16)

HIPCPU_THREE(v_fma_f32, put_number, std::fma(number(p), number(q), number(r)))
HIPCPU_THREE(v_max3_f32, put_number, std::fmax(std::fmax(number(p), number(q)), number(r)))
HIPCPU_THREE(v_med3_f32, put_number, __builtin_amdgcn_fmed3f(number(p), number(q), number(r)))
HIPCPU_THREE(v_lshl_add_u32, put, (word(p) << (word(q) & 31)) + word(r))
HIPCPU_THREE(v_lshl_or_b32, put, word(p) << (word(q) & 31) | word(r))
HIPCPU_THREE(v_and_or_b32, put, (word(p) & word(q)) | word(r))
HIPCPU_THREE(v_or3_b32, put, word(p) | word(q) | word(r))
HIPCPU_THREE(v_add3_u32, put, word(p) + word(q) + word(r))
HIPCPU_THREE(v_bfe_u32, put, __builtin_amdgcn_ubfe(word(p), word(q), word(r)))
HIPCPU_THREE(v_bfi_b32, put, (word(p) & word(q)) | (~word(p) & word(r)))
HIPCPU_THREE(v_perm_b32, put, __builtin_amdgcn_perm(word(p), word(q), word(r)))
HIPCPU_THREE(v_alignbit_b32, put, __builtin_amdgcn_alignbit(word(p), word(q), word(r)))
HIPCPU_THREE(v_alignbyte_b32, put, __builtin_amdgcn_alignbyte(word(p), word(q), word(r)))
HIPCPU_THREE(v_dot2_f32_f16, put_number, __builtin_amdgcn_fdot2(word(p), word(q), number(r), 0))
HIPCPU_THREE(v_dot4_i32_i8, put, (dot<8, true>(word(p), word(q), word(r), false)))
inline float fma_half(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<float>(static_cast<_Float16>(std::fma(double{float_of_half(a)}, double{float_of_half(b)},
                                                          double{float_of_half(c)})));
}
HIPCPU_THREE(v_fma_f16, put, half_of_float(fma_half(word(p), word(q), word(r))))
HIPCPU_THREE(v_pk_fma_f16, put,
             half_of_float(fma_half(word(p), word(q), word(r))) |
                 half_of_float(fma_half(word(p) >> 16, word(q) >> 16, word(r) >> 16)) << 16)

#undef HIPCPU_ONE
#undef HIPCPU_TWO
#undef HIPCPU_THREE

// Comparisons: the result has one bit per lane, and a selection uses the bit of its own lane.
#define HIPCPU_COMPARE(name, type, expression)                                              \
  template <class D, class A, class B>                                                      \
  inline void v_cmp_##name(D& to, const A& first, const B& second) {                        \
    const auto p = __builtin_bit_cast(type, word(first)), q = __builtin_bit_cast(type, word(second)); \
    tie(to, static_cast<uint64_t>(__builtin_amdgcn_ballot_w64(expression)));                \
  }
#define HIPCPU_COMPARE_INTEGERS(kind, type) \
  HIPCPU_COMPARE(lt_##kind, type, p < q)    \
  HIPCPU_COMPARE(le_##kind, type, p <= q)   \
  HIPCPU_COMPARE(eq_##kind, type, p == q)   \
  HIPCPU_COMPARE(gt_##kind, type, p > q)    \
  HIPCPU_COMPARE(ge_##kind, type, p >= q)
HIPCPU_COMPARE_INTEGERS(i32, int32_t)
HIPCPU_COMPARE_INTEGERS(u32, uint32_t)
HIPCPU_COMPARE_INTEGERS(f32, float)
HIPCPU_COMPARE(ne_i32, int32_t, p != q)
HIPCPU_COMPARE(ne_u32, uint32_t, p != q)
HIPCPU_COMPARE(lg_f32, float, p < q || p > q)
HIPCPU_COMPARE(neq_f32, float, p != q)
HIPCPU_COMPARE(u_f32, float, __builtin_isunordered(p, q))
HIPCPU_COMPARE(o_f32, float, !__builtin_isunordered(p, q))
#undef HIPCPU_COMPARE_INTEGERS
#undef HIPCPU_COMPARE
template <class D, class A, class B, class C>
inline void v_cndmask_b32(D& to, const A& otherwise, const B& chosen, const C& mask) {
  static_assert(sizeof(C) == 8, "the mask of a selection has 8 bytes");
  uint64_t bits;
  __builtin_memcpy(&bits, &mask, 8);
  put(to, bits >> thread_in_block() % kWaveSize & 1 ? word(chosen) : word(otherwise));
}

template <class D>
inline void s_memtime(D& to) {
  tie(to, __builtin_amdgcn_s_memtime());
}
template <class D>
inline void s_memrealtime(D& to) {
  tie(to, __builtin_amdgcn_s_memrealtime());
}

// Matrix instructions: `multiply` is the builtin of the same instruction. The literal 0 is a matrix of zeros.
template <class P, class T>
inline P matrix_operand(const T& operand) {
  P value{};
  if constexpr (!std::is_same_v<T, Bits>) {
    static_assert(sizeof(T) == sizeof(P), "an operand of this matrix instruction has another size");
    __builtin_memcpy(static_cast<void*>(&value), &operand, sizeof(P));
  }
  return value;
}
template <class R, class P, class S, class D, class A, class B, class C>
inline void v_mfma(R (*multiply)(P, P, S, int, int, int, int), D& to, const A& a, const B& b, const C& c, int cbsz,
                   int abid, int blgp, int line) {
  tie(to, multiply(matrix_operand<P>(a), matrix_operand<P>(b), matrix_operand<S>(c), cbsz, abid, blgp, line));
}

// Two numbers of 32 bits in 8 bytes.
struct Floats {
  float low, high;
};
template <class T>
inline Floats two_floats(const T& operand) {
  static_assert(sizeof(T) == 8, "this operand needs a value of 8 bytes");
  Floats values;
  __builtin_memcpy(&values, &operand, 8);
  return values;
}
template <class D, class A>
inline void v_mov_b64(D& to, const A& p) {
  static_assert(sizeof(D) == 8 && (sizeof(A) == 8 || std::is_same_v<A, Bits>), "this instruction moves 8 bytes");
  uint64_t value = 0;
  __builtin_memcpy(&value, &p, sizeof(A));
  tie(to, value);
}
template <class D, class A, class B>
inline void v_pk_add_f32(D& to, const A& p, const B& q) {
  const Floats a = two_floats(p), b = two_floats(q);
  tie(to, Floats{a.low + b.low, a.high + b.high});
}
template <class D, class A, class B>
inline void v_pk_mul_f32(D& to, const A& p, const B& q) {
  const Floats a = two_floats(p), b = two_floats(q);
  tie(to, Floats{a.low * b.low, a.high * b.high});
}
template <class D, class A, class B, class C>
inline void v_pk_fma_f32(D& to, const A& p, const B& q, const C& r) {
  const Floats a = two_floats(p), b = two_floats(q), c = two_floats(r);
  tie(to, Floats{std::fma(a.low, b.low, c.low), std::fma(a.high, b.high, c.high)});
}

// Memory

// The pointer of an address in LDS: the low 32 bits of a pointer to shared memory.
inline char* lds_pointer(uint32_t address) {
  const auto distance_from = [=](const void* base) {
    return static_cast<int32_t>(address - static_cast<uint32_t>(reinterpret_cast<uint64_t>(base)));
  };
  constexpr int32_t kStatic = 4 << 20;
  const auto* dynamic = reinterpret_cast<char*>(hipcpu_dynamic_shared);
  const auto* local = reinterpret_cast<const char*>(&threadIdx);
  const int32_t from_dynamic = distance_from(dynamic), from_local = distance_from(local);
  if (dynamic && from_dynamic >= -int32_t{kSharedBytes} && from_dynamic <= int32_t{kSharedBytes})
    return const_cast<char*>(dynamic) + from_dynamic;
  if (from_local < -kStatic || from_local > kStatic)
    hipcpu_kernel_fault("memory-fault", "the address of an LDS instruction is not the low half of a pointer to shared memory");
  return const_cast<char*>(local) + from_local;
}
template <class T>
inline char* lds_pointer(T* address) {
  return reinterpret_cast<char*>(address);
}
template <class T>
  requires std::is_integral_v<T>
inline char* lds_pointer(T address) {
  return lds_pointer(static_cast<uint32_t>(address));
}

template <class A>
inline char* global_pointer(const A& address, decltype(nullptr)) {
  static_assert(sizeof(A) == 8, "a global address has 8 bytes");
  uint64_t bits;
  __builtin_memcpy(&bits, &address, 8);
  return reinterpret_cast<char*>(bits);
}
template <class A, class B>
inline char* global_pointer(const A& offset, const B& base) {
  return global_pointer(base, nullptr) + word(offset);
}

// Reads N bytes to a register; fewer than four are extended.
template <unsigned N, bool Signed, class D>
inline void load(D& to, const char* from, [[maybe_unused]] bool lds) {
  static_assert(std::is_trivially_copyable_v<D>);
  if constexpr (N < 4) {
    uint32_t value = load_part(from, N);
    if (Signed && value >> (8 * N - 1)) value |= ~0u << 8 * N;
    put(to, value);
  } else {
    static_assert(sizeof(D) == N, "the destination must have the size that is loaded");
#ifdef HIPCPU_CHECKED
    if (N == 16 && lds) hipcpu_checked_wide_access(from);
#endif
    uint32_t words[N / 4];
    for (unsigned i = 0; i < N; i += 4) words[i / 4] = load_part(from + i, 4);
    __builtin_memcpy(&to, words, N);
  }
#ifdef HIPCPU_CHECKED
  hipcpu_checked_register_load(&to, sizeof(D), lds);
#endif
}
template <unsigned N, class T>
inline void store(char* to, const T& value) {
  static_assert(sizeof(T) == N || (N < 4 && sizeof(T) <= 4), "the value must have the size that is stored");
  if constexpr (N < 4) {
    store_part(to, low_word(value), N);
  } else {
    const Words<T> words = to_words(value);
    for (unsigned i = 0; i < N; i += 4) store_part(to + i, words.word[i / 4], 4);
  }
}

template <unsigned N, bool Signed, class D, class A>
inline void ds_read(D& to, const A& address, int offset) {
  load<N, Signed>(to, lds_pointer(address) + offset, true);
}
template <unsigned N, class A, class T>
inline void ds_write(const A& address, const T& value, int offset) {
  store<N>(lds_pointer(address) + offset, value);
}
template <unsigned N, class D, class A>
inline void ds_read2(D& to, const A& address, int first, int second) {
  static_assert(sizeof(D) == 2 * N, "the destination must have the size that is loaded");
  Register<N> parts[2];
  ds_read<N, false>(parts[0], address, first);
  ds_read<N, false>(parts[1], address, second);
  __builtin_memcpy(&to, parts, 2 * N);
#ifdef HIPCPU_CHECKED
  hipcpu_checked_register_load(&to, sizeof(D), true);
#endif
}
template <unsigned N, class A, class T, class U>
inline void ds_write2(const A& address, const T& one, const U& other, int first, int second) {
  ds_write<N>(address, one, first);
  ds_write<N>(address, other, second);
}
template <unsigned N, bool Signed, class D, class A, class B>
inline void global_load(D& to, const A& address, const B& base, int offset) {
  load<N, Signed>(to, global_pointer(address, base) + offset, false);
}
template <unsigned N, class A, class T, class B>
inline void global_store(const A& address, const T& value, const B& base, int offset) {
  store<N>(global_pointer(address, base) + offset, value);
}
template <unsigned N, class D, class O, class R>
inline void buffer_load(D& to, const O& offset, const R& descriptor, int scalar_offset, int immediate) {
  static_assert(sizeof(D) == N, "the destination must have the size that is loaded");
  const Register<N> value = hipcpu::load_buffer<N>(descriptor, static_cast<int>(word(offset)) + immediate, scalar_offset);
  __builtin_memcpy(&to, value.word, N);
#ifdef HIPCPU_CHECKED
  hipcpu_checked_register_load(&to, sizeof(D), false);
#endif
}
template <unsigned N, class T, class O, class R>
inline void buffer_store(const T& value, const O& offset, const R& descriptor, int scalar_offset, int immediate) {
  static_assert(sizeof(T) == N, "the value must have the size that is stored");
  hipcpu::store_buffer(value, descriptor, static_cast<int>(word(offset)) + immediate, scalar_offset);
}

}  // namespace hipcpu::gcn
