"""Measure how much time of `warmfront run` each start-up trick saves.

Every trick is measured in one run against the command as it is, in alternating rounds: a trick that is in use
is switched off, and one that was removed is switched on. A trick must save 1% of the wall time to stay.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 20
#: The share of the command's wall time that a trick must save.
THRESHOLD = 0.01

_EXAMPLE = Path(__file__).parent.parent / "examples" / "leaky_relu.hip"
_ARGUMENTS = ["run", str(_EXAMPLE), "--problem", "leaky-relu", "--endpoint", "checker"]
_START = "from warmfront.cli import main; main()"
_SLOW_EXIT = "import os, sys; os._exit = sys.exit"
_STANDARD_DATACLASSES = (
    "import dataclasses, warmfront.value_class; warmfront.value_class.dataclass = dataclasses.dataclass"
)

BASELINE = "as it is"


def main() -> None:
    """Print what each trick saves."""
    programs = _programs()
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for program in programs.values():  # once unmeasured, to fill caches
        _run(program)
    for _ in range(ROUNDS):
        for name, program in programs.items():
            start = time.perf_counter()
            _run(program)
            seconds[name].append(time.perf_counter() - start)
    print(f"warmfront run, checker: {statistics.median(seconds[BASELINE]):.3f} s")
    for name in programs:
        if name != BASELINE:
            print(_line(name, seconds[name], seconds[BASELINE]))


def _programs() -> dict[str, str]:
    """Return Python programs that run the command: unchanged, and each with one trick changed."""
    threads = f"import os; os.environ['OPENBLAS_NUM_THREADS'] = '{os.cpu_count()}'"
    return {
        BASELINE: _START,
        "in use: second parser": "from warmfront.cli.app import app; app()",
        "in use: own modules loaded late": f"import {', '.join(_own_modules())}\n{_START}",
        "in use: NumPy loaded late": f"import numpy\n{_START}",
        "in use: Rich loaded late": f"import rich.console, rich.table\n{_START}",
        "in use: one OpenBLAS thread": f"{threads}\n{_START}",
        "in use: dataclasses without compiled methods": f"{_STANDARD_DATACLASSES}\n{_START}",
        "in use: exit without cleanup": f"{_SLOW_EXIT}\n{_START}",
        "in use: no garbage collection": f"import gc; gc.disable = gc.enable\n{_START}",
        "removed: shorter thread switches": f"import sys; sys.setswitchinterval(0.0005)\n{_START}",
    }


def _own_modules() -> list[str]:
    """Return the modules of Warmfront that the command loads, except those that need NumPy.

    The cost of those is NumPy's, which is measured separately.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "modules.json"
        record = f"atexit.register(lambda: open({str(file)!r}, 'w').write(json.dumps(list(sys.modules))))"
        _run(f"{_SLOW_EXIT}; import atexit, json; {record}\n{_START}")
        loaded: list[str] = json.loads(file.read_text())
    return [name for name in loaded if name.startswith("warmfront.") and _loads_without_numpy(name)]


def _loads_without_numpy(module: str) -> bool:
    program = f"import sys; sys.modules['numpy'] = None; import {module}"
    return subprocess.run([sys.executable, "-c", program], check=False, capture_output=True).returncode == 0


def _line(name: str, changed: list[float], baseline: list[float]) -> str:
    ratio = statistics.median(other / base for other, base in zip(changed, baseline, strict=True))
    saved = ratio - 1 if name.startswith("in use") else 1 - ratio
    verdict = "worth it" if saved >= THRESHOLD else "not worth it"
    return f"  {name:36} saves {saved:6.1%}  (goal: {THRESHOLD:.0%} or more)  {verdict}"


def _run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program, *_ARGUMENTS], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
