"""Every builtin of lanes, arithmetic and scheduling, element by element, against models in NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support import arithmetic_models, lane_models, memory_models
from warmfront import sandbox, settings
from warmfront.hip.xray import xray

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.support.programs import Programs

    Words = NDArray[np.uint32]
    Run = Callable[[str, Words, int, int], Words]

pytestmark = pytest.mark.compiler

PROGRAMS = Path(__file__).parents[3] / "corpus" / "programs"
SOURCE = (PROGRAMS / "builtins.hip").read_text()
CASES_PER_BLOCK = 256

#: Whole waves, and waves with inactive lanes: every third lane, the upper half, one lane.
ACTIVE = (0xFFFFFFFFFFFFFFFF, 0x9249249249249249, 0xFFFFFFFF00000000, 1 << 37)

CONTROLS = (
    *range(0x100),
    *(base + n for base in (0x100, 0x110, 0x120) for n in range(1, 16)),
    *(0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143),
    *range(0x150, 0x160),
)


@pytest.fixture(name="run")
def _run(programs: Programs, tmp_path: Path) -> Run:
    """Return a function that runs a kernel with input words and active lanes, and returns its output."""

    def run(kernel: str, words: Words, active: int, count: int) -> Words:
        words.tofile(tmp_path / "in")
        arguments = (str(tmp_path / "in"), str(active), str(tmp_path / "out"), str(count))
        result = programs.run("builtins", kernel, *arguments)
        assert (result.returncode, result.stderr) == (0, "")
        return np.fromfile(tmp_path / "out", np.uint32)

    return run


def cases_of(kernel: str, source: str = SOURCE) -> list[str]:
    """Return the names of a kernel's cases, in their order."""
    body = source.split(f"__global__ void {kernel}(")[1].split("\n}\n", maxsplit=1)[0]
    names = []
    for line in body.splitlines():
        if found := re.match(r"\s*DPP\((\w+), (\w+), (\w+), (\w+), (\w+)\)", line):
            names.append("__".join(found.groups()))
        elif found := re.match(r"\s*(?:FLOAT_)?CASE\((\w+),", line):
            names.append(found[1])
    return names


def input_words(blocks: int) -> Words:
    """Return random words; the third and fourth of each lane are often special floating-point numbers."""
    rng = np.random.default_rng(16)
    words = rng.integers(0, 1 << 32, (blocks, 4, 64), dtype=np.uint32)
    ordinary = rng.normal(0, 40, (blocks, 2, 64)).astype(np.float32).view(np.uint32)
    special = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            65504.0,
            65519.0,
            65536.0,
            1e-8,
            6e-8,
            1e-40,
            np.inf,
            -np.inf,
            np.nan,
            0.99,
        ],
        np.float32,
    ).view(np.uint32)
    choice = rng.integers(0, 3, ordinary.shape)
    specials = rng.choice(special, ordinary.shape)
    words[:, 2:] = np.select([choice == 0, choice == 1], [ordinary, specials], words[:, 2:])
    return words


def count_equal(
    expected: NDArray[np.generic], got: Words, *, near: bool = False, halves: bool = False
) -> int:
    """Return how many elements agree; NaN equals NaN."""
    wanted = expected.astype(np.int64 if expected.dtype.kind != "u" else np.uint64).astype(np.uint32)
    kind = np.float16 if halves else np.float32
    nan = (np.isnan(wanted.view(kind)) & np.isnan(got.view(kind))).reshape(64, -1)
    if halves:
        equal = wanted.view(np.uint16).reshape(64, 2) == got.view(np.uint16).reshape(64, 2)
        return int((equal | nan).all(1).sum())
    if near:
        close = np.isclose(
            got.view(np.float32), wanted.view(np.float32), rtol=3e-7, atol=3e-7, equal_nan=True
        )
        return int(close.sum())
    return int(((wanted == got) | nan[:, 0]).sum())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_between_lanes(run: Run) -> None:
    """Operations between lanes give each active lane the documented result."""
    names, words = cases_of("between_lanes"), input_words(6)
    total = right = 0
    for bits in ACTIVE:
        active = np.array([bits >> lane & 1 for lane in range(64)], bool)
        output = run("between_lanes", words, bits, 6 * CASES_PER_BLOCK * 64).reshape(6, CASES_PER_BLOCK, 64)
        for block, (a, b, c, d) in enumerate(words):
            for at, name in enumerate(names):
                model = lane_models.model_between_lanes(name)
                expected = np.where(active, model(a, b, c, d, active), 0)
                equal = count_equal(expected, output[block, at])
                assert equal == 64, (name, hex(bits), expected[:8], output[block, at][:8])
                right, total = right + equal, total + 64
    print(f"lanes: {right} of {total} elements, {len(names)} operations")


def test_every_dpp_control(run: Run) -> None:
    """Every control of DPP, with masks and both kinds of bounds, moves the right element."""
    words = input_words(1)[0, :2]
    right = total = 0
    for bits in ACTIVE:
        active = np.array([bits >> lane & 1 for lane in range(64)], bool)
        given = np.concatenate([words.ravel(), np.array(CONTROLS, np.uint32)])
        output = run("all_dpp", given, bits, 8 * len(CONTROLS) * 64).reshape(8, len(CONTROLS), 64)
        for variant in range(8):
            zero, which = variant >= 4, variant % 4
            rows, banks = ((0xF, 0xF), (0xA, 0xF), (0xF, 0x5), (0x6, 0x9))[which]
            for at, control in enumerate(CONTROLS):
                moved = lane_models.dpp(words[1], words[0], active, control, rows, banks, zero=zero)
                expected = np.where(active, moved, 0)
                assert np.array_equal(output[variant, at], expected), (hex(control), variant, hex(bits))
                right, total = right + 64, total + 64
    print(f"DPP: {right} of {total} elements, {len(CONTROLS)} controls")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_in_a_lane(run: Run) -> None:
    """Operations of one lane have the right bits; special functions are close."""
    blocks = 40
    names, words = cases_of("in_a_lane"), input_words(blocks)
    output = run("in_a_lane", words, 0, blocks * CASES_PER_BLOCK * 64).reshape(blocks, CASES_PER_BLOCK, 64)
    right = total = 0
    for block, (a, b, c, d) in enumerate(words):
        for at, name in enumerate(names):
            expected = np.asarray(arithmetic_models.IN_A_LANE[name](a, b, c, d, block))
            equal = count_equal(
                expected, output[block, at], near=name.startswith(("near_", "fmed3f")), halves=name == "pkrtz"
            )
            wrong = np.flatnonzero(expected.astype(np.int64).astype(np.uint32) != output[block, at])[:4]
            assert equal == 64, (
                name,
                wrong,
                expected[wrong],
                output[block, at][wrong],
                a[wrong],
                c[wrong],
                d[wrong],
            )
            right, total = right + equal, total + 64
    print(f"arithmetic: {right} of {total} elements, {len(names)} operations")


@pytest.mark.parametrize(("program", "kernels"), [("builtins", 3), ("builtins_memory", 2)])
def test_compiles_for_the_gpu(program: str, kernels: int) -> None:
    """The compiler for gfx942 accepts the same kernels."""
    maker = sandbox.open_sandbox("bubblewrap")
    device_code = (PROGRAMS / f"{program}.hip").read_text().partition("\n// host\n")[0]
    # The GPU's compiler accepts only its own vector types as operands of 16 bytes.
    for name, element in (("int32x4_t", "int"), ("Four", "unsigned")):
        vector = f"typedef {element} {name} __attribute__((ext_vector_type(4)));"
        device_code = re.sub(rf"struct alignas\(16\) {name} \{{[^}}]*\}};", vector, device_code)
    report = xray(device_code, sandbox=maker, settings=settings.load({}, env_file=None))
    maker.close()
    assert report.failure is None, report.failure
    assert len(report.kernels) == kernels


@pytest.mark.parametrize("kernel", ["buffers", "assembly", "intrinsics"])
def test_memory(programs: Programs, tmp_path: Path, kernel: str) -> None:
    """Buffers check their range, loads to LDS write per lane, and inline assembly has the GPU's meaning."""
    result = programs.run("builtins_memory", kernel, str(tmp_path / "out"))
    assert (result.returncode, result.stderr) == (0, "")
    output = np.fromfile(tmp_path / "out", np.uint32).reshape(64, 64)
    expected = getattr(memory_models, kernel)()
    source = (PROGRAMS / "builtins_memory.hip").read_text()
    assert list(expected) == cases_of(kernel, source)
    for words, (name, model) in zip(output, expected.items(), strict=False):
        wanted = np.asarray(model).astype(np.int64).astype(np.uint32)
        assert np.array_equal(words, wanted), (name, wanted[:12], words[:12])
    print(f"{kernel}: {64 * len(expected)} of {64 * len(expected)} elements, {len(expected)} operations")


@pytest.mark.parametrize(
    ("case", "kind", "detail"),
    [
        ("unaligned", "misaligned-access", "the address of a buffer descriptor must be a multiple of 4"),
        ("without_format", "unsupported", "pass the flags 0x00027000"),
    ],
)
def test_bad_descriptor(programs: Programs, case: str, kind: str, detail: str) -> None:
    """A descriptor that the hardware would not use as intended is a fault that says what to pass."""
    fault = programs.fault("builtins_memory", case, "/dev/null")
    assert (fault["fault"], fault["kernel"]) == (kind, "bad_descriptor")
    assert detail in fault["detail"]


def test_scheduling(run: Run) -> None:
    """Scheduling builtins change no result, and s_barrier is a barrier."""
    words = input_words(1).ravel()
    assert np.array_equal(run("scheduled", words, 0, 256), words[::-1])
