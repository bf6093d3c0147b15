"""Helpers for tests of the X-ray: a sandbox, the corpus, and the compiler's own remarks."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront import sandbox, settings
from warmfront.hip.xray import xray
from warmfront.hip.xray.device_compiler import DeviceCompiler, choose_headers, find_libraries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.xray import XrayReport
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

ROOT = Path(__file__).parent.parent.parent
FIGURES = sorted((ROOT / "tests/corpus/xray/figures").glob("*.hip"))
FINDINGS = sorted((ROOT / "tests/corpus/xray/findings").glob("*.hip"))
EXAMPLES = sorted((ROOT / "examples").glob("*.hip"))

_REMARK = re.compile(r"remark: +(?P<name>[^:\n]+): (?P<value>\S+) \[-Rpass-analysis=kernel-resource-usage\]")


@dataclass(frozen=True)
class XrayHarness:
    """A sandbox and settings for X-rays."""

    box_maker: Sandbox
    settings: Settings

    def xray(self, source: str, **options: Any) -> XrayReport:
        """X-ray a source."""
        return xray(source, sandbox=self.box_maker, **{"settings": self.settings, **options})


def open_harness() -> Iterator[XrayHarness]:
    """Yield a harness, for use in a fixture."""
    maker = sandbox.open_sandbox("bubblewrap")
    yield XrayHarness(maker, settings.load({}, env_file=None))
    maker.close()


def remarks(path: Path, arch: str) -> dict[str, dict[str, str]]:
    """Return the compiler's remarks about each kernel of a file: symbol → figure → value."""
    compiler = DeviceCompiler(settings.load({}, env_file=None).cache_dir, arch, libraries=find_libraries())
    precompiled = compiler.precompiled(choose_headers(path.read_text()))
    command = [*compiler.command(str(path), precompiled), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    by_symbol: dict[str, dict[str, str]] = {}
    figures: dict[str, str] = {}
    for remark in _REMARK.finditer(done.stderr):
        if remark["name"] == "Function Name":
            figures = by_symbol.setdefault(remark["value"], {})
        else:
            figures[remark["name"]] = remark["value"]
    return by_symbol


def marked(source: str) -> set[tuple[str, int]]:
    """Return the findings that comments of a source mark: rule and line."""
    return {
        (rule, number)
        for number, line in enumerate(source.splitlines(), 1)
        for rule in re.findall(r"// finds ([\w-]+)", line)
    }
