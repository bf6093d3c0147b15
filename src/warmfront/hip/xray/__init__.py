"""The X-ray: what an AMD GPU's compiler makes of a kernel, with no GPU and no ROCm.

It compiles in a sandbox, reads the assembly, and says what it found. It runs no kernel and times none.
"""

from __future__ import annotations

from warmfront.hip.xray.analysis import xray
from warmfront.hip.xray.xray_report import KernelReport, XrayReport

__all__ = ["KernelReport", "XrayReport", "xray"]
