// The types of HIP's atomic functions. Signed 64-bit integers are only compared: cast the pointer to unsigned long long
// to add to them.
#pragma once

#include <type_traits>

namespace hipshared {

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

// And, or, xor.
template <class T>
inline constexpr bool is_atomic_integer = is_one_of<T, int, unsigned, unsigned long, unsigned long long>;
template <class T>
inline constexpr bool is_atomic_floating = is_one_of<T, float, double>;
// Sums, differences and exchanges.
template <class T>
inline constexpr bool is_atomic_number = is_atomic_integer<T> || is_atomic_floating<T>;
// Minima and maxima.
template <class T>
inline constexpr bool is_atomic_ordered = is_atomic_number<T> || std::is_same_v<T, long long>;
// Compare and swap.
template <class T>
inline constexpr bool is_atomic_swapped = is_atomic_number<T> || std::is_same_v<T, unsigned short>;

}  // namespace hipshared
