"""Swizzles and masks become macros that g++ understands; other expressions stay."""

from __future__ import annotations

import pytest

from warmfront.hip.source.rewrite import rewrite

TYPES = (
    "typedef float f4 __attribute__((ext_vector_type(4)));\n"
    "typedef int i4 __attribute__((ext_vector_type(4)));\n"
)

REWRITTEN = {
    "x = v.wzyx;": "x = v.HIPCPU_SWIZZLE(wzyx, ::hipcpu::Order<3, 2, 1, 0>);",
    "x = p->s02;": "x = p->HIPCPU_SWIZZLE(s02, ::hipcpu::Order<0, 2>);",
    "x = v.odd;": "x = v.HIPCPU_SWIZZLE(odd, ::hipcpu::EverySecond<1>);",
    "v.yx += w;": "v.HIPCPU_SWIZZLE_ASSIGNED(yx, ::hipcpu::Order<1, 0>) += w;",
    "i4 m; x = m ? a : b;": "i4 m; x = HIPCPU_SELECT((m ), ( a ), ( b));",
    "f4 v, w = 0; x = f(v < w ? v : w, 1);": "f4 v, w = 0; x = f(HIPCPU_SELECT((v < w ), ( v ), ( w)), 1);",
    "const f4& v; auto m = -v; return m ? a : b;": (
        "const f4& v; auto m = -v; return HIPCPU_SELECT((m ), ( a ), ( b));"
    ),
    "f4 v; x = v.x > 0 ? (v > 0) ? a : b : c;": (
        "f4 v; x = v.x > 0 ? HIPCPU_SELECT(((v > 0) ), ( a ), ( b )): c;"
    ),
    "} f4 g(int); void h() { x = g(1) > 0 ? a : b;": (
        "} f4 g(int); void h() { x = HIPCPU_SELECT((g(1) > 0 ), ( a ), ( b));"
    ),
    "f4 s[4], *p; x = s[i] > p[j] ? a : b;": "f4 s[4], *p; x = HIPCPU_SELECT((s[i] > p[j] ), ( a ), ( b));",
    "f4 v; x = v == y ? g<1, 2>(a) : v != z ? b : c;": (
        "f4 v; x = HIPCPU_SELECT((v == y ), ( g<1, 2>(a) ), ( HIPCPU_SELECT((v != z ), ( b ), ( c))));"
    ),
}


@pytest.mark.parametrize("code", REWRITTEN)
def test_rewrites_vector_expressions(code: str) -> None:
    """The macros have the operands, and the order of the elements."""
    text = rewrite(f"{TYPES}void k() {{ {code} }}").text.splitlines()[-1]
    assert text == f"void k() {{ {REWRITTEN[code]} }}"


@pytest.mark.parametrize(
    "code",
    [
        "v.x = w.s3;",
        "v.xy.x = 1; v.zw[0] += 2; ++p[1].xy; v.zw--;",
        "struct { int rgb; } c; c.rgb = 1;",
        "x = v.xy();",
        "f4 v; x = v.x > 0 ? a : b;",
        "f4 v; x = v[1] ? a : b;",
        "f4 v; x = any(v > 0) ? a : b;",
        "f4* p; x = p ? a : b;",
        "f4 s[4]; x = s ? a : b;",
        "f4 s[4]; x = s[1].x > 0 ? a : b;",
        "int n; x = n < m ? a : b;",
    ],
)
def test_leaves_other_expressions(code: str) -> None:
    """Elements, members and methods of the author, pointers and numbers stay."""
    assert rewrite(f"{TYPES}void k() {{ {code} }}").text.splitlines()[-1] == f"void k() {{ {code} }}"


def test_a_file_without_vectors() -> None:
    """A member of another type can have any name."""
    source = "void k(pixel p) { p.bgr = p.rgb; }"
    assert rewrite(source).text == source


def test_the_body_of_a_macro() -> None:
    """A macro has swizzles as well."""
    text = rewrite(f"#define REVERSE(v) ((v).wzyx)\n{TYPES}").text
    assert (
        text.splitlines()[0] == "#define REVERSE(v) ((v).HIPCPU_SWIZZLE(wzyx, ::hipcpu::Order<3, 2, 1, 0>))"
    )
