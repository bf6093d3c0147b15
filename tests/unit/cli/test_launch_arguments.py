"""`warmfront launch`: the options become a launch, and messages name options and parameters."""

from __future__ import annotations

from typing import Any

import pytest

from warmfront.cli.launch_arguments import LaunchOptions, as_usage_error, declare_launch
from warmfront.errors import InvalidLaunch, UsageError
from warmfront.hip.scratch import validate_launch

SOURCE = """
__global__ void scale(const float* x, float* y, float factor, int n) { y[0] = factor * x[n]; }
"""
TWO = SOURCE + "template <int N> __global__ void general(float* y) { y[N] = 0; }\n"
ARGUMENTS = ("x=8:index", "y=8", "factor=2.5", "n=7")


def _options(*arguments: str, **changes: Any) -> LaunchOptions:
    fields = {"kernel": None, "grid": "4x2", "block": "64", "shared_bytes": 0, **changes}
    return LaunchOptions(**fields, arguments=arguments or ARGUMENTS)


def test_the_options_become_a_launch() -> None:
    """Arguments are ordered by the parameters of the kernel, whatever their order on the command line."""
    assert declare_launch(_options("n=7", "factor=2.5", "y=8:1,-2,3.5", "x=8:index"), SOURCE) == {
        "kernel": "scale",
        "grid": [4, 2],
        "block": [64],
        "shared_bytes": 0,
        "arguments": [
            {"count": 8, "fill": "index"},
            {"count": 8, "values": [1, -2, 3.5]},
            {"value": 2.5},
            {"value": 7},
        ],
    }


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (_options("x=8"), "`scale` needs --arg for y, factor, n.", "--arg x=COUNT[:FILL] (const float*)"),
        (_options("z=8"), "`scale` has no parameter `z`", "--arg n=NUMBER (int)"),
        (_options("x"), "--arg is 'x', which is not a new NAME=VALUE.", "--arg x=1024:index"),
        (_options("x=8", "x=9"), "--arg is 'x=9', which is not a new NAME=VALUE.", "Write"),
        (_options("x=8:stripes", *ARGUMENTS[1:]), "'stripes' is not a number", "random, index, zeros"),
        (_options(*ARGUMENTS[:3], "n=many"), "'many' is not a number", "Write a number."),
        (_options(grid="4,2"), "--grid is '4,2'; allowed: one to three sizes.", "--grid 4x2"),
        (_options(block="0x1x2x3"), "--block is '0x1x2x3'", "--block 4"),
        (_options(kernel="scal"), "--kernel is 'scal'", "Use one of: scale."),
    ],
)
def test_an_option_that_cannot_be_read_is_named(options: LaunchOptions, message: str, hint: str) -> None:
    """The hint says what to write."""
    with pytest.raises(UsageError) as caught:
        declare_launch(options, SOURCE)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("source", "kernel", "message"),
    [
        ("int f();", None, "The file has no kernel."),
        (TWO, None, "The file has 2 kernels."),
        (TWO, "general", "`general` is a template"),
    ],
)
def test_the_kernel_must_be_clear(source: str, kernel: str | None, message: str) -> None:
    """Without --kernel there must be one kernel, and a template cannot be launched."""
    with pytest.raises(UsageError, match=message):
        declare_launch(_options(kernel=kernel), source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (_options(block="2048"), "--block is 2048; allowed: a whole number from 1 to 1,024."),
        (_options(grid="70000x70000"), "--grid is 70000; allowed: a whole number from 1 to 65,535."),
        (_options(shared_bytes=-1), "--shared-bytes is -1; allowed"),
        (_options(*ARGUMENTS[:3], "n=1.5"), "--arg n is 1.5; allowed: a whole number"),
        (_options("x=0", *ARGUMENTS[1:]), "--arg x (count) is 0; allowed"),
        (_options("x=8:uninitialized", *ARGUMENTS[1:]), "--arg x (fill) is 'uninitialized'; allowed"),
        (_options("x=8000000", *ARGUMENTS[1:]), "--arg has buffers of 32,000,032 bytes"),
    ],
)
def test_limits_are_reported_with_the_names_of_options(options: LaunchOptions, message: str) -> None:
    """The checks are those of the HTTP API; the user of the command line sees no field of a request."""
    declared = declare_launch(options, SOURCE)
    with pytest.raises(InvalidLaunch) as caught:
        validate_launch(declared, SOURCE)
    error = as_usage_error(caught.value, declared, SOURCE)
    assert message in error.message
    assert "launch." not in error.message
