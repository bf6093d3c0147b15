"""Check the result of a call: guard zones, inputs and outputs. Correctness is decided here and nowhere else.

This code and the expected outputs never enter a sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.judge.error_grid import error_grid
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.problems.chunks import LARGE, SMALL_CHUNK, parts_of, run_parallel
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.judge.box_messages import RunAnswer
    from warmfront.judge.buffer_layout import BufferLayout, BufferRegion
    from warmfront.judge.case_data import CaseData
    from warmfront.problems.spec import Tensors, Tolerance

    Array = np.ndarray[Any, Any]

NEVER_CLEARED = (
    "The kernel adds to an output that was never initialized. Outputs are not zero: call hipMemset first."
)

#: How many differences are reported, and how many values of each input.
SAMPLES = 8


def check_call(
    case_data: CaseData,
    layout: BufferLayout,
    data_file: Path,
    *,
    run_answer: RunAnswer | None = None,
    slot: int = 0,
    inputs_intact: bool = False,
) -> None:
    """Raise `KernelFailure` if a call wrote out of bounds, changed its inputs or gave a wrong output.

    Args:
        case_data: the inputs of the call, and the expected outputs.
        layout: the layout of the data file.
        data_file: the data file after the call.
        run_answer: the guest's claims about the call.
        slot: the slot of the data file.
        inputs_intact: whether the harness found the inputs and their guard zones unchanged.
    """
    regions = [region for region in layout.regions if region.output or not inputs_intact]
    raws = {region.name: layout.read(data_file, region, slot) for region in regions}
    for region in regions:
        _check_guards(layout, region, raws[region.name], case_data)
    for region in regions:
        if not region.output:
            _check_unchanged(region, raws[region.name], case_data)
        elif case_data.checks_outputs:
            _check_output(layout, region, raws[region.name], case_data, run_answer)
    if not case_data.checks_outputs and run_answer is not None and run_answer.error:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "HIP_ERROR",
            f"HIP reports {run_answer.error}.",
            hint="Check the sizes of the launch.",
        )


def is_correct(got: Array, want: Array, tolerance: Tolerance) -> bool:
    """Return whether every element is correct.

    Arrays are compared in parts, large arrays in several threads.
    """
    got, want = got.reshape(-1), want.reshape(-1)

    def is_part_correct(part: slice) -> bool:
        return not mismatches(got[part], want[part], tolerance).any()

    if got.size < LARGE:
        return all(map(is_part_correct, parts_of(got.size, chunk=SMALL_CHUNK)))
    verdicts: list[bool] = []
    run_parallel(lambda part: verdicts.append(is_part_correct(part)), parts_of(got.size))
    return all(verdicts)


def mismatches(got: Array, want: Array, tolerance: Tolerance) -> Array:
    """Return a boolean array of wrong elements. NaN and infinities must match the expected value."""
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
    # The common case ends here. An expected infinity makes the tolerance infinite and is compared below.
    if not far.any() and np.isfinite(allowed.max(initial=0.0)):
        return np.asarray(far)
    with np.errstate(invalid="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.asarray(np.where(np.isfinite(want), far, ~same))


def _check_guards(layout: BufferLayout, region: BufferRegion, raw: Array, case_data: CaseData) -> None:
    if where := layout.describe_guard_write(region, raw):
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "OUT_OF_BOUNDS_WRITE",
            f"{case_data.title}: out-of-bounds write {where} of `{region.name}`, "
            f"which has {region.data_bytes:,} bytes.",
            hint="Check the index before the store: a thread past the last element must not write.",
            case=case_data.case.name,
        )


def _check_unchanged(region: BufferRegion, raw: Array, case_data: CaseData) -> None:
    before = np.ascontiguousarray(case_data.inputs[region.name])
    # Compare bits, not values: a NaN equals itself, and -0.0 differs from 0.0.
    after, before = _bits(region.elements(raw)), _bits(before)
    if np.array_equal(after, before):
        return
    changed = np.flatnonzero(after != before)
    if changed.size:
        raise KernelFailure(
            Verdict.WRONG_ANSWER,
            "INPUT_CHANGED",
            f"{case_data.title}: {changed.size:,} elements of the input `{region.name}` were changed, "
            f"first at index {int(changed[0])}.",
            hint="Inputs are const: write to the output, or to memory that you allocate with hipMalloc.",
            case=case_data.case.name,
        )


def _check_output(
    layout: BufferLayout, region: BufferRegion, raw: Array, case_data: CaseData, run_answer: RunAnswer | None
) -> None:
    got, want, tolerance = region.elements(raw), case_data.expected[region.name], case_data.tolerance
    if is_correct(got, want, tolerance):
        return
    wrong = mismatches(got, want, tolerance)
    if run_answer is not None and run_answer.error:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "HIP_ERROR",
            f"{case_data.title}: HIP reports {run_answer.error}, and the output is wrong.",
            hint="Check the result of every launch and call with hipGetLastError().",
            case=case_data.case.name,
        )
    unwritten = layout.count_unwritten(region, raw)
    accumulated = layout.count_accumulated(region, raw)
    raise KernelFailure(
        Verdict.WRONG_ANSWER,
        "NEVER_WRITTEN" if unwritten == got.size else "NEVER_CLEARED" if accumulated else "WRONG_OUTPUT",
        f"{case_data.title}: {_describe(region, wrong, unwritten)}",
        hint=NEVER_CLEARED if accumulated else _hint(unwritten, got.size, run_answer, tolerance),
        case=case_data.case.name,
        debug_info=debug_info(got, want, wrong, case_data.inputs),
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


def _hint(unwritten: int, size: int, run_answer: RunAnswer | None, tolerance: Tolerance) -> str:
    if run_answer is not None and run_answer.launches == 0:
        return "No kernel was launched."
    if unwritten == size:
        return "Nothing was written: check the number of blocks and the output pointer of the launch."
    if unwritten:
        return "Some elements were never written: check the tail and the number of blocks."
    bound = f"{tolerance.atol:g} + {tolerance.rtol:g} |expected|"
    return f"The tolerance is |actual - expected| <= {bound}: {tolerance.why}"


def debug_info(got: Array, want: Array, wrong: Array, inputs: Tensors) -> dict[str, Any]:
    """Return the largest and mean difference, the first wrong elements, and a grid of where they are.

    An input with the shape of the output is shown beside each wrong element, and the beginning of every input
    in any case.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # the poison is a signaling NaN
        difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
    finite = difference[np.isfinite(difference)]
    places = np.flatnonzero(wrong)[:SAMPLES]
    aligned = {name: tensor for name, tensor in inputs.items() if tensor.shape == got.shape}
    return {
        "max_difference": float(finite.max()) if finite.size else float("nan"),
        "mean_difference": float(finite.mean()) if finite.size else float("nan"),
        "sample_differences": [_sample(int(at), got, want, difference, aligned) for at in places],
        "inputs": [
            {"name": name, "shape": list(tensor.shape), "values": tensor.reshape(-1)[:SAMPLES].tolist()}
            for name, tensor in inputs.items()
        ],
        "grid": error_grid(wrong, difference),
    }


def _sample(at: int, got: Array, want: Array, difference: Array, aligned: Tensors) -> dict[str, Any]:
    index = [int(i) for i in np.unravel_index(at, got.shape)]
    return {
        "index": index,
        "expected": want.reshape(-1)[at].item(),
        "actual": got.reshape(-1)[at].item(),
        "difference": float(difference.reshape(-1)[at]),
        "inputs": {name: tensor.reshape(-1)[at].item() for name, tensor in aligned.items()},
    }


def _bits(array: Array) -> Array:
    return array.reshape(-1).view(f"u{array.dtype.itemsize}")
