"""Canonical JSON, by RFC 8785."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warmfront.receipts.canonical import NotCanonical, canonical_json, parse_canonical_json

#: Characters that are escaped, sorted or encoded in different ways.
_TEXTS = st.text('aB"\\\x00\x1f\n\x7f/\u00e9\u20ac\ufb33\U0001f600', max_size=8)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [  # the numbers are from appendix B of the RFC
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (0.000001, "0.000001"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (333333333.3333333, "333333333.3333333"),
        (1.0, "1"),
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),  # by UTF-16 code units
        ("\u20ac$\x0f\nA'B\"\\/", '"\u20ac$\\u000f\\nA\'B\\"\\\\/"'),
    ],
)
def test_the_examples_of_the_rfc(value: object, text: str) -> None:
    """Numbers, order and escapes are those of the standard."""
    assert canonical_json(value).decode() == text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is slow
@given(_VALUES)
def test_a_value_survives_its_canonical_form(value: object) -> None:
    """The canonical form is JSON of the same value, and canonical itself."""
    data = canonical_json(value)
    assert json.loads(data, parse_int=float) == value
    assert canonical_json(parse_canonical_json(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b' {"a":1}',
        b'{"a":1}\n',
        b'{"a": 1}',
        b'{"b":1,"a":1}',
        b'{"a":1,"a":1}',
        b'{"a":1.0}',
        b'{"a":1e0}',
        b'{"a":-0}',
        b'{"a":NaN}',
        b'{"a":1e999}',
        b'{"a":9007199254740993}',
        b'{"a":"\\u0041"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":"\\/"}',
        b"",
        b"[" * 100_000,
    ],
)
def test_another_spelling_is_not_canonical(data: bytes) -> None:
    """Every spelling of a value except one is refused, and so is text that is not JSON."""
    with pytest.raises(NotCanonical):
        parse_canonical_json(data)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", b"bytes", {1: 2}])
def test_a_value_without_canonical_form(value: object) -> None:
    """A value that JSON cannot represent exactly is refused when it is written."""
    with pytest.raises(ValueError):  # noqa: PT011 - each value has its own message
        canonical_json(value)
