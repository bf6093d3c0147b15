"""The C++ code that is compiled around a source: it checks the signature of `solution` and calls it.

It is part of the same translation unit, so that a wrong signature is a compile error that names the
author's own types, and no call relies on an assumed ABI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.problems.spec import Dtype, Problem

#: The file name in compiler messages about the trailer.
TRAILER_NAME = "warmfront-trailer"

#: The file name in compiler messages about the author's source.
SOURCE_NAME = "solution.hip"

#: The guest looks the symbol up with dlsym. The second attribute is for g++ with -fwhole-program; clang would
#: warn about it.
_VISIBLE = "WARMFRONT_VISIBLE"

_PROLOGUE = """\
#include <cstddef>
#include <type_traits>
#ifdef __clang__
#define WARMFRONT_VISIBLE __attribute__((visibility("default")))
#else
#define WARMFRONT_VISIBLE __attribute__((visibility("default"), externally_visible))
#endif
namespace warmfront_trailer {
// `const` may be omitted and an integer may be narrower; types, order and count must match.
template <class Has, class Wants>
constexpr bool fits() {
  using std::remove_cv_t, std::remove_pointer_t;
  if constexpr (std::is_pointer_v<Has> && std::is_pointer_v<Wants>)
    return std::is_same_v<remove_cv_t<remove_pointer_t<Has>>, remove_cv_t<remove_pointer_t<Wants>>>;
  else
    return (std::is_integral_v<Has> && std::is_integral_v<Wants>) ||
           (std::is_floating_point_v<Has> && std::is_same_v<Has, Wants>);
}
template <class Function, class... Wants> struct Accepts : std::false_type {};
template <class... Has, class... Wants>
struct Accepts<void(Has...), Wants...> {
  static constexpr bool all() {
    if constexpr (sizeof...(Has) == sizeof...(Wants)) return (fits<Has, Wants>() && ...);
    else return false;
  }
  static constexpr bool value = all();
};
template <class... Has, class... Wants>
struct Accepts<void(Has...) noexcept, Wants...> : Accepts<void(Has...), Wants...> {};
template <std::size_t I, class Function> struct Parameter;
template <class First, class... Rest>
struct Parameter<0, void(First, Rest...)> { using type = First; };
template <std::size_t I, class First, class... Rest>
struct Parameter<I, void(First, Rest...)> : Parameter<I - 1, void(Rest...)> {};
template <std::size_t I, class... Has>
struct Parameter<I, void(Has...) noexcept> : Parameter<I, void(Has...)> {};
}
"""


def wrap_source(text: str, problem: Problem, dtype: Dtype) -> str:
    """Return `text` between the prologue and the trailer for `problem` in `dtype`."""
    return f'{_PROLOGUE}#line 1 "{SOURCE_NAME}"\n{text}\n#line 1 "{TRAILER_NAME}"\n{_trailer(problem, dtype)}'


def _trailer(problem: Problem, dtype: Dtype) -> str:
    types = [p.c_spelling(dtype) for p in problem.signature]
    calls = ", ".join(
        f"(warmfront_trailer::Parameter<{i}, decltype(solution)>::type)*static_cast<{c_type} const*>(a[{i}])"
        for i, c_type in enumerate(types)
    )
    accepts = f"warmfront_trailer::Accepts<{', '.join(['decltype(solution)', *types])}>::value"
    return (
        'extern "C" decltype(solution) solution;\n'
        f'static_assert({accepts}, "WARMFRONT_SIGNATURE");\n'
        f'extern "C" {_VISIBLE} void warmfront_call(void* const* a) {{\n'
        f"  solution({calls});\n}}\n"
    )
