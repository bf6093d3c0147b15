// The common part of the headers in this folder: operands as 32-bit words, and arguments that must be constants.
//
// These headers define compiler builtins of AMD GPUs as functions. They are included only if a source names such a
// builtin (warmfront/hip/builtins.py), so that they do not slow down other sources.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hipcpu/checked.h>

namespace hipcpu {

// Rejections: a constant argument that the instruction does not have calls one of these, which is an error with the
// function's name; warmfront/hip/builtins.py has the text for each.
void rejected_dpp_control();
void rejected_mask_of_four_bits();
void rejected_swizzle_pattern();
void rejected_comparison();
void rejected_lds_load_size();
void rejected_fence_order();
void rejected_byte_selector();
void rejected_buffer_cache_policy();

// An argument that must be a constant expression, as clang requires it.
struct Constant {
  int value;
  template <class T>
  consteval Constant(T given) : value(static_cast<int>(given)) {}
  constexpr operator int() const { return value; }
};

template <class T>
inline constexpr unsigned words_of = (sizeof(T) + 3) / 4;

template <class T>
struct Words {
  uint32_t word[words_of<T>];
};

template <class T>
inline Words<T> to_words(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  Words<T> words{};
  __builtin_memcpy(words.word, &value, sizeof(T));
  return words;
}

template <class T>
inline T from_words(const Words<T>& words) {
  T value;
  __builtin_memcpy(&value, words.word, sizeof(T));
  return value;
}

// The result of an instruction that writes N bytes of registers; converts to any type of that size, as vectors of
// equal size convert to each other on the GPU.
template <unsigned N>
struct Register {
  uint32_t word[(N + 3) / 4];
  uint32_t& operator[](unsigned i) { return word[i]; }
  uint32_t operator[](unsigned i) const { return word[i]; }
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) == N)
  operator T() const {
    T value;
    __builtin_memcpy(&value, word, N);
    return value;
  }
};

template <class T>
inline uint32_t low_word(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 4);
  uint32_t word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return word;
}

}  // namespace hipcpu
