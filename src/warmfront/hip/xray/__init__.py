"""The X-ray: static analysis of a kernel as compiled for an AMD GPU, without a GPU and without ROCm.

It compiles the source in a sandbox and analyzes the assembly. It never runs or times a kernel.
"""

from __future__ import annotations

from warmfront.hip.xray.analysis import xray
from warmfront.hip.xray.xray_report import KernelReport, XrayReport

__all__ = ["KernelReport", "XrayReport", "xray"]
