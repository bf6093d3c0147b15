"""Find symbols that device code uses but nothing defines.

ROCm's linker rejects them, but the X-ray does not link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warmfront.hip.compiler_messages import Place
from warmfront.hip.diagnose import MAX_ERRORS, CompileFailure, render
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.compile_failures import diagnostic_at
from warmfront.hip.xray.demangler import demangle

if TYPE_CHECKING:
    from collections.abc import Iterator

_RELOCATION = re.compile(r"^\ts_add_u32 .*?, ([A-Za-z_$][\w$.]*)@(?:rel32|gotpcrel32)@lo", re.MULTILINE)
_DEFINITION = re.compile(r"^(?:\t?\.set |\t\.comm\t)?([A-Za-z_$][\w$.]*)[:,]", re.MULTILINE)
_FRAME = re.compile(rf"(?:^|[\s/]){re.escape(SOURCE_NAME)}:(\d+):(\d+)")
#: Symbols that hipcc's own headers define in every file.
_DEFINED_BY_HIPCC = frozenset({"__cxa_pure_virtual", "__cxa_deleted_virtual"})


def explain_undefined(assembly: str, source: str) -> CompileFailure | None:
    """Return the failure for symbols that the assembly uses but does not define; None if there are none."""
    used = set(_RELOCATION.findall(assembly))
    if not used:
        return None
    undefined = used - set(_DEFINITION.findall(assembly)) - _DEFINED_BY_HIPCC
    if not undefined:
        return None
    places = dict(reversed(list(_uses(assembly, undefined))))  # the first use of each
    shown = [
        diagnostic_at(source, place, _describe(symbol, source), "error")
        for symbol, place in sorted(places.items(), key=lambda use: (use[1].line, use[1].column))
    ]
    return CompileFailure(
        "UNDEFINED_NAME",
        render(shown[:MAX_ERRORS], source),
        tuple(shown[:MAX_ERRORS]),
        hint="Device code can use only HIP's own functions, and __device__ names of this file.",
    )


def _uses(assembly: str, undefined: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield each use of an undefined symbol with the author's place."""
    place = Place(SOURCE_NAME, 1)
    for line in assembly.splitlines():
        if line.startswith("\t.loc\t"):
            frames = _FRAME.findall(line)
            if frames:
                place = Place(SOURCE_NAME, int(frames[-1][0]), int(frames[-1][1]))
        elif (use := _RELOCATION.match(line)) and use[1] in undefined:
            yield use[1], place


def _describe(symbol: str, source: str) -> str:
    """Return the message about a symbol. If the source does not name it, the standard library calls it."""
    name = demangle(symbol)
    if not re.search(rf"\b{re.escape(name.rpartition('::')[2])}\b", source):
        return "this uses a part of the C++ library that runs on the host only; a kernel cannot call it"
    return f"'{name}' is declared and used, but not defined for the device"
