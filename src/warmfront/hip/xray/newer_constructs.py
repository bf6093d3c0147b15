"""The X-ray's findings about constructs that ROCm 6.4 does not have.

Our headers mark such functions; the compiler warns where the author's source uses one.
"""

from __future__ import annotations

import re

from warmfront.hip.compiler_messages import Severity, parse_messages
from warmfront.hip.rocm_versions import NEEDS_NOTE, describe_newer, is_newer, replacement
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.xray_report import Rule, XrayFinding

_NAME = re.compile(r"[A-Za-z_]\w*")


def find_newer_constructs(output: str, source: str) -> tuple[XrayFinding, ...]:
    """Return one finding per line and construct, in the order of the compiler's warnings."""
    lines = source.split("\n")
    findings: dict[tuple[int, str], XrayFinding] = {}
    for message in parse_messages(output):
        place = message.place
        if message.severity is not Severity.WARNING or NEEDS_NOTE not in message.text or place is None:
            continue
        if not place.file.endswith(SOURCE_NAME) or not 0 < place.line <= len(lines):
            continue
        name = _name_at(lines[place.line - 1], place.column)
        findings.setdefault(
            (place.line, name),
            XrayFinding(
                rule=Rule.NEEDS_ROCM_7,
                kernel="",
                line=place.line,
                message=describe_newer(name),
                advice=replacement(name),
            ),
        )
    return tuple(findings.values())


def _name_at(line: str, column: int) -> str:
    """Return the name at a column, which clang counts in bytes; a subscript for anything else.

    A constructor's warning is at the variable: the name is then that of the type before it.
    """
    encoded = line.encode()
    rest = encoded[max(column - 1, 0) :].decode(errors="ignore")
    name = _NAME.match(rest)
    if name is None or not re.match(r"\w+\s*[(<{;=]", rest):
        return "a subscript of a vector"
    before = _NAME.findall(encoded[: max(column - 1, 0)].decode(errors="ignore"))
    return next((earlier for earlier in reversed(before) if is_newer(earlier)), name.group())
