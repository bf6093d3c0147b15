"""Count the modules of Warmfront that a warm submission executes in the service, from request to verdict.

A profile function in the service records the module of every Python function that is called while a flag file
exists. The VM's listener and the judge run in separate processes and are not counted. `--list` names them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.services import serving

#: Python imports a module with this name at its start.
_HOOK = """
import os, sys, threading

out = os.environ["WARMFRONT_MODULE_TRACE"]
seen = set()

def record(frame, event, arg):
    name = frame.f_globals.get("__name__", "")
    if event == "call" and name.startswith("warmfront") and name not in seen and os.path.exists(out + ".on"):
        seen.add(name)
        with open(out, "a", encoding="utf-8") as file:
            file.write(name + "\\n")

sys.setprofile(record)
threading.setprofile(record)
"""


def main() -> None:
    """Count the modules of the second submission, which finds a warm VM."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(_HOOK)
        (folder / "data").mkdir()
        trace, flag = folder / "trace", folder / "trace.on"
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
        with serving(folder / "data", PYTHONPATH=path, WARMFRONT_MODULE_TRACE=str(trace)) as service:
            service.judged(endpoint="submit")
            flag.touch()
            assert service.judged(endpoint="submit")[-1]["status"] == "ACCEPTED"
            flag.unlink()
        modules = sorted(set(trace.read_text().split()))
    for package, count in Counter(module.split(".")[1] for module in modules).most_common():
        print(f"  {package:20} {count:3}")
    if "--list" in sys.argv[1:]:
        print(*modules, sep="\n")
    print(f"  modules of the service that a warm submission executes: {len(modules)}")


if __name__ == "__main__":
    main()
