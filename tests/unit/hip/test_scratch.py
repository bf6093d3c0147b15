"""Launches of scratch kernels are validated against the kernel's own parameters."""

from __future__ import annotations

from typing import Any

import pytest

from warmfront.errors import InvalidLaunch
from warmfront.hip.scratch import compose_source, find_kernels, parse_launch, validate_launch

SOURCE = """
// __global__ void commented(int x) {}
template <class T> __global__ void generic(T* x) {}
__global__ __launch_bounds__(256) void __attribute__((unused)) scale(
    const float* __restrict__ input, float *output, const float factor, std::size_t n) {}
__global__ void empty() {}
__global__ void custom(struct_t* x, float** y) {}
"""
VALID: dict[str, Any] = {
    "kernel": "scale",
    "grid": [4],
    "block": [8, 8],
    "arguments": [{"count": 8}, {"count": 8}, {"value": 1.5}, {"value": 8}],
}


def test_the_parameters_of_kernels_are_found() -> None:
    """Attributes and qualifiers are skipped, templates are known but not understood."""
    kernels = find_kernels(SOURCE)
    assert list(kernels) == ["generic", "scale", "empty", "custom"]
    assert kernels["generic"] is None
    assert kernels["empty"] == ()
    scale = kernels["scale"]
    assert scale is not None
    assert [(p.name, p.c_type, p.is_pointer, p.is_const) for p in scale] == [
        ("input", "float", True, True),
        ("output", "float", True, False),
        ("factor", "float", False, True),
        ("n", "size_t", False, False),
    ]


@pytest.mark.parametrize("source", ["", "/* unclosed", "__global__", "__global__ void f(", "}}}{{{((("])
def test_a_broken_source_has_no_kernels(source: str) -> None:
    """The compiler reports what is wrong with it."""
    assert find_kernels(source) == {}


def test_the_launch_is_appended_to_the_source() -> None:
    """The author's lines keep their numbers."""
    text = compose_source(SOURCE, validate_launch(VALID, SOURCE))
    assert text.startswith(SOURCE)
    assert (
        "scale<<<dim3(4, 1, 1), dim3(8, 8, 1), 0>>>((const float*)input, (float*)output, (float)(1.5), "
        "(size_t)(8));" in text
    )


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"kernel": "other"}, "launch.kernel", "is 'other'; the source has generic, scale, empty, custom"),
        ({"kernel": None}, "launch.kernel", "is None"),
        ({"kernel": "generic"}, "launch.kernel", "is a template"),
        ({"grid": []}, "launch.grid", "a list of one to three sizes"),
        ({"grid": [0]}, "launch.grid[0]", "is 0; allowed: a whole number from 1 to"),
        ({"grid": [1, 70000]}, "launch.grid[1]", "is 70000"),
        ({"grid": [2**30]}, "launch.grid", "threads; the limit is 4,194,304"),
        ({"block": [1025]}, "launch.block[0]", "is 1025; allowed: a whole number from 1 to 1,024"),
        ({"block": [64, 64]}, "launch.block", "4,096 threads; the limit is 1,024"),
        ({"block": [1.5]}, "launch.block[0]", "is 1.5"),
        ({"block": [True]}, "launch.block[0]", "is True"),
        (
            {"shared_bytes": 65537},
            "launch.shared_bytes",
            "is 65537; allowed: a whole number from 0 to 65,536",
        ),
        ({"arguments": []}, "launch.arguments", "has 0; `scale` has 4 parameters"),
        ({"arguments": "x"}, "launch.arguments", "has 0"),
        ({"arguments": [1, 2, 3, 4]}, "launch.arguments[0]", "is 1; an object is required"),
        ({"kernel": "custom", "arguments": [{}, {}]}, "launch.arguments[0]", "has the type `struct_t*`"),
    ],
)
def test_an_invalid_launch_names_the_field(changes: dict[str, Any], field: str, message: str) -> None:
    """The error has the field, the value and what is allowed."""
    with pytest.raises(InvalidLaunch) as error:
        validate_launch({**VALID, **changes}, SOURCE)
    assert error.value.field == field
    assert message in error.value.message


@pytest.mark.parametrize(
    ("index", "argument", "field", "message"),
    [
        (0, {}, "launch.arguments[0].count", "is None; allowed: a whole number from 1 to"),
        (0, {"count": 0}, "launch.arguments[0].count", "is 0"),
        (0, {"count": 2**23}, "launch.arguments", "buffers of 33,554,464 bytes; the limit is 16,777,216"),
        (
            0,
            {"count": 8, "fill": "chaos"},
            "launch.arguments[0].fill",
            "allowed: random, index, zeros, ones.",
        ),
        (0, {"count": 8, "fill": "uninitialized"}, "launch.arguments[0].fill", "is 'uninitialized'"),
        (1, {"count": 8, "values": []}, "launch.arguments[1].values", "a list of 1 to 256 numbers"),
        (
            1,
            {"count": 8, "values": ["x"]},
            "launch.arguments[1].values[0]",
            "is 'x'; allowed: a finite number",
        ),
        (2, {}, "launch.arguments[2].value", "is None; allowed: a finite number"),
        (2, {"value": float("nan")}, "launch.arguments[2].value", "is nan"),
        (3, {"value": 1.5}, "launch.arguments[3].value", "is 1.5; allowed: a whole number from 0 to"),
        (3, {"value": -1}, "launch.arguments[3].value", "is -1"),
        (3, {"value": '1); system("rm"'}, "launch.arguments[3].value", "allowed: a whole number"),
    ],
)
def test_an_invalid_argument_names_the_field(
    index: int, argument: dict[str, Any], field: str, message: str
) -> None:
    """Numbers must fit the parameter's type, and buffers the limits."""
    arguments = [*VALID["arguments"]]
    arguments[index] = argument
    with pytest.raises(InvalidLaunch) as error:
        validate_launch({**VALID, "arguments": arguments}, SOURCE)
    assert error.value.field == field
    assert message in error.value.message


def test_a_source_with_a_solution_is_rejected() -> None:
    """The launch defines `solution` itself; a call of it, or a comment, does not define it."""
    with pytest.raises(InvalidLaunch, match="defines `solution`"):
        validate_launch(VALID, SOURCE + 'extern "C" void solution(float* x) {}')
    assert validate_launch(VALID, SOURCE + "// void solution(float* x) {}\n").kernel == "scale"


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_json_that_is_no_launch_is_rejected(text: str) -> None:
    """A listener validates what it receives."""
    with pytest.raises(InvalidLaunch, match="launch"):
        parse_launch(text, SOURCE)
