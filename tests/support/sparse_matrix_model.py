"""A model of the matrix instructions of gfx942 with a sparse A, from their definition.

The layouts are those that AMD's matrix instruction calculator prints for CDNA3, in the direction from the
element to the lane: for each group of four elements of A, the lane and the bits that have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.support.matrix_model import LANES, Form, parse_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUP = 4


def stored_items(form: Form) -> int:
    """Return how many elements of A a lane has: half of those that it would have if A were dense."""
    return form.items // 2


def index_sets(form: Form) -> int:
    """Return how many sets of indices a register has, two bits per element."""
    return 32 // (2 * stored_items(form))


def expand(
    form: Form, a: NDArray[np.float64], index: NDArray[np.uint32], modifiers: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the whole A, with zeros; two elements of a group with the same index are added."""
    cbsz, abid = modifiers
    first_bit = 0 if cbsz else abid * 2 * stored_items(form)
    whole = np.zeros((form.m, form.k))
    for row in range(form.m):
        for begin in range(0, form.k, GROUP):
            lane = row + form.m * (begin // form.items)
            group = begin % form.items // GROUP
            bits = int(index[lane]) >> (first_bit + 4 * group)
            whole[row, begin + (bits & 3)] += a[lane, 2 * group]
            whole[row, begin + (bits >> 2 & 3)] += a[lane, 2 * group + 1]
    return whole


def multiply(
    form: Form,
    operands: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    index: NDArray[np.uint32],
    modifiers: tuple[int, int],
) -> NDArray[np.float64]:
    """Return D of every lane, given the decoded A and B, and the C and the indices of every lane."""
    a, b, c = operands
    columns = np.array([[b[form.operand_place(j, k, 0)] for j in range(form.n)] for k in range(form.k)])
    product = expand(form, a, index, modifiers) @ columns
    d = np.full((LANES, form.results), np.nan)
    for i in range(form.m):
        for j in range(form.n):
            place = form.result_place(i, j, 0)
            d[place] = product[i, j] + c[place]
    return d


def parse_sparse_form(name: str) -> Form:
    """Return the form of `__builtin_amdgcn_smfmac_NAME`."""
    form = parse_form(name)
    assert form.blocks == 1, name
    return form
