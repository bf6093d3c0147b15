"""Tests of how vector types of the compiler are rewritten."""

from __future__ import annotations

import pytest

from warmfront.hip.source.rewrite import RewriteError, rewrite

FORMS = {
    "typedef float f __attribute__((ext_vector_type(4)));": "typedef ::hipcpu::ext_vector<float, 4> f ;",
    "typedef float __attribute__((ext_vector_type(4))) f;": "typedef ::hipcpu::ext_vector<float, 4> f;",
    "typedef __attribute__((ext_vector_type(4))) float f;": "typedef ::hipcpu::ext_vector<float, 4> f;",
    "typedef unsigned char f __attribute__((ext_vector_type(2 * N)));": (
        "typedef ::hipcpu::ext_vector<unsigned char, (2 * N)> f ;"
    ),
    "using f = _Float16 __attribute__((__ext_vector_type__(8)));": (
        "using f = ::hipcpu::ext_vector<_Float16, 8> ;"
    ),
    "using f = __attribute__((__vector_size__(4 * sizeof(float)))) float;": (
        "using f = ::hipcpu::sized_vector<float, (4 * sizeof(float))>;"
    ),
    "using f __attribute__((ext_vector_type(4))) = float;": "using f = ::hipcpu::ext_vector<float, 4>;",
    "template <class T, int N> using f = T __attribute__((ext_vector_type(N)));": (
        "template <class T, int N> using f = ::hipcpu::ext_vector<T, N> ;"
    ),
    "struct A { typedef T f __attribute__((ext_vector_type(2))); };": (
        "struct A { typedef ::hipcpu::ext_vector<T, 2> f ; };"
    ),
    "typedef typename V<float>::t f __attribute__((ext_vector_type(4)));": (
        "typedef ::hipcpu::ext_vector<typename V<float>::t, 4> f ;"
    ),
    "void g(const float __attribute__((ext_vector_type(4))) v);": (
        "void g(const ::hipcpu::ext_vector<float, 4> v);"
    ),
    "#define VECTOR(T, N) T __attribute__((ext_vector_type(N)))\n": (
        "#define VECTOR(T, N) ::hipcpu::ext_vector<T, N>"
    ),
}


@pytest.mark.parametrize("source", FORMS)
def test_rewrites(source: str) -> None:
    """The attribute becomes a type wherever it is written; other text stays."""
    assert " ".join(rewrite(source).text.split()) == FORMS[source]


def test_an_authors_name_is_no_attribute() -> None:
    """A constant or a member that is named `vector_size` stays."""
    source = "constexpr int vector_size = traits<T>::vector_size; load<float, vector_size>(x);"
    assert rewrite(source).text == source


def test_keeps_lines_and_other_attributes() -> None:
    """Every line keeps its number, and another attribute of the type stays."""
    text = rewrite("typedef float\n  f\n  __attribute__((aligned(4), ext_vector_type(4)));\nint x;\n").text
    assert text.splitlines()[3] == "int x;"
    assert "aligned(4)" in text


@pytest.mark.parametrize(
    "source",
    [
        "#define VECTOR __attribute__((ext_vector_type(4)))\ntypedef float f VECTOR;",
        "typedef float f [[clang::ext_vector_type(4)]];",
        "typedef float f __attribute__((ext_vector_type(4))), g;",
        "typedef float* f __attribute__((ext_vector_type(4)));",
    ],
)
def test_refuses_what_it_does_not_understand(source: str) -> None:
    """An attribute that would be ignored is an error with its line, and says what to write."""
    with pytest.raises(RewriteError) as error:
        rewrite(f"\n{source}")
    assert error.value.line == 2
    assert "ext_vector_type" in error.value.message
    assert "typedef float floatx4" in error.value.hint
