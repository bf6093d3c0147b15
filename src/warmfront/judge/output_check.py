"""Compares what came out of the sandbox with what should have: the one place where right is decided.

It never enters a sandbox, and neither do the expected values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.judge.error_grid import error_grid
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.judge.buffer_layout import BufferLayout, BufferRegion
    from warmfront.judge.case_data import CaseData
    from warmfront.judge.guest import RunReport
    from warmfront.problems.spec import Tolerance

    Array = np.ndarray[Any, Any]

NEVER_CLEARED = (
    "Something was added to an output that was never cleared: outputs are not zero, use hipMemset first."
)

#: How many differences are shown.
SAMPLES = 8


def check_call(
    question: CaseData, layout: BufferLayout, data: Path, *, ran: RunReport | None = None, slot: int = 0
) -> None:
    """Refuse a call that strayed, changed its inputs or gave a wrong output."""
    raws = {region.name: layout.read(data, region, slot) for region in layout.regions}
    for region in layout.regions:
        _check_guards(layout, region, raws[region.name], question)
    for region in layout.regions:
        if region.output:
            _check_output(layout, region, raws[region.name], question, ran)
        else:
            _check_unchanged(region, raws[region.name], question)


def mismatches(got: Array, want: Array, tolerance: Tolerance) -> Array:
    """Where `got` is off, as a boolean array. NaN is off unless NaN is wanted, and likewise infinities."""
    if np.issubdtype(want.dtype, np.integer):
        return np.asarray(got != want)
    want = want.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.subtract(got, want, dtype=np.float64)
        np.abs(difference, out=difference)
        allowed = np.abs(want)
        allowed *= tolerance.rtol
        allowed += tolerance.atol
        far = ~(difference <= allowed)
    # Nearly always this is all. An infinity allows everything, so it needs the closer look below.
    if not far.any() and np.isfinite(allowed.max(initial=0.0)):
        return np.asarray(far)
    with np.errstate(invalid="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.asarray(np.where(np.isfinite(want), far, ~same))


def _check_guards(layout: BufferLayout, region: BufferRegion, raw: Array, question: CaseData) -> None:
    if where := layout.strayed(region, raw):
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "OUT_OF_BOUNDS_WRITE",
            f"{question.title}: it wrote {where} of `{region.name}`, which has {region.data_bytes:,} bytes.",
            hint="Guard the store: a thread past the last element must not write.",
            case=question.case.name,
        )


def _check_unchanged(region: BufferRegion, raw: Array, question: CaseData) -> None:
    before = np.ascontiguousarray(question.inputs[region.name])
    # Bits, not values: a NaN equals itself here, and -0.0 is not 0.0.
    changed = np.flatnonzero(_bits(region.elements(raw)) != _bits(before))
    if changed.size:
        raise KernelFailure(
            Verdict.WRONG_ANSWER,
            "INPUT_CHANGED",
            f"{question.title}: {changed.size:,} elements of the input `{region.name}` were changed, "
            f"first at index {int(changed[0])}.",
            hint="Inputs are const: write to the output, or to memory of your own from hipMalloc.",
            case=question.case.name,
        )


def _check_output(
    layout: BufferLayout, region: BufferRegion, raw: Array, question: CaseData, ran: RunReport | None
) -> None:
    got, want, tolerance = region.elements(raw), question.expected[region.name], question.tolerance
    wrong = mismatches(got, want, tolerance)
    if not wrong.any():
        return
    if ran is not None and ran.error:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "HIP_ERROR",
            f"{question.title}: HIP reports {ran.error}, and the output is wrong.",
            hint="Check the error of every launch and call with hipGetLastError().",
            case=question.case.name,
        )
    unwritten = layout.unwritten(region, raw)
    accumulated = layout.accumulated(region, raw)
    raise KernelFailure(
        Verdict.WRONG_ANSWER,
        "NEVER_WRITTEN" if unwritten == got.size else "NEVER_CLEARED" if accumulated else "WRONG_OUTPUT",
        f"{question.title}: {_describe(region, wrong, unwritten)}",
        hint=NEVER_CLEARED if accumulated else _hint(unwritten, got.size, ran, tolerance),
        case=question.case.name,
        debug_info=debug_info(got, want, wrong),
        output_name=region.name,
        wrong_elements=int(np.count_nonzero(wrong)),
        elements=int(got.size),
        unwritten_elements=unwritten,
        tolerance={"rtol": tolerance.rtol, "atol": tolerance.atol, "why": tolerance.why},
    )


def _describe(region: BufferRegion, wrong: Array, unwritten: int) -> str:
    first = "".join(f"[{int(i)}]" for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    count = int(np.count_nonzero(wrong))
    text = f"{count:,} of {wrong.size:,} elements of `{region.name}` are wrong, first at {first}."
    return f"{text} {unwritten:,} were never written." if unwritten else text


def _hint(unwritten: int, size: int, ran: RunReport | None, tolerance: Tolerance) -> str:
    if ran is not None and ran.launches == 0:
        return "No kernel was launched at all."
    if unwritten == size:
        return "Nothing was written: was the kernel launched with enough blocks, on the right pointer?"
    if unwritten:
        return "Some elements were never written: look at the tail, and at the number of blocks."
    return f"Allowed is |got - want| <= {tolerance.atol:g} + {tolerance.rtol:g} |want|: {tolerance.why}"


def debug_info(got: Array, want: Array, wrong: Array) -> dict[str, Any]:
    """The largest and the mean difference, the first few wrong elements, and a small picture of where."""
    with np.errstate(invalid="ignore", over="ignore"):  # the poison is a NaN that signals
        difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
    finite = difference[np.isfinite(difference)]
    places = np.flatnonzero(wrong)[:SAMPLES]
    return {
        "max_difference": float(finite.max()) if finite.size else float("nan"),
        "mean_difference": float(finite.mean()) if finite.size else float("nan"),
        "sample_differences": [_sample(int(at), got, want, difference) for at in places],
        "grid": error_grid(wrong, difference),
    }


def _sample(at: int, got: Array, want: Array, difference: Array) -> dict[str, Any]:
    index = [int(i) for i in np.unravel_index(at, got.shape)]
    return {
        "index": index,
        "expected": want.reshape(-1)[at].item(),
        "actual": got.reshape(-1)[at].item(),
        "difference": float(difference.reshape(-1)[at]),
    }


def _bits(array: Array) -> Array:
    return array.reshape(-1).view(f"u{array.dtype.itemsize}")
