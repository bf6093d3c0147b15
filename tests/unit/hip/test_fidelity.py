"""Tests of the fidelity of results on the CPU runtime, which the names in a source determine."""

from __future__ import annotations

import pytest

from warmfront.hip.builtins import Fidelity
from warmfront.hip.fidelity import assess_fidelity

APPROXIMATE = {
    "d = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);": "mfma_f32_32x32x8f16: sums",
    "y = expf(x) + __logf(x);": "expf, __logf: the C library",
    "#define E(x) std::exp(x)\n": "exp: the C library",
    "y = hexp(x); y = rsqrtf(x); y = sinf(x); y = cosf(x);": "hexp, rsqrtf, sinf and 1 more: the C library",
    "rocwmma::mma_sync(d, a, b, c);": "rocwmma: it uses matrix instructions",
}
EXACT = [
    "d = __builtin_amdgcn_mfma_i32_16x16x32_i8(a, b, c, 0, 0, 0);",
    "d = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);",
    "y = sqrtf(x) * fmaf(a, b, c) / z;",
    '// expf(x)\nconst char* text = "expf("; int exp = 3; log.exp(3);',
    "/* not terminated",
]


@pytest.mark.parametrize("source", APPROXIMATE)
def test_approximate(source: str) -> None:
    """An operation whose last bits can differ is named, with the reason."""
    fidelity = assess_fidelity(source)
    assert fidelity.level is Fidelity.APPROXIMATE
    assert APPROXIMATE[source] in fidelity.reason


@pytest.mark.parametrize("source", EXACT)
def test_exact(source: str) -> None:
    """Operations that are rounded once, integers, and names in comments and strings are exact."""
    assert assess_fidelity(source).level is Fidelity.EXACT
