"""A GPU that computes nothing, on virtual time, for `bench.gpu`.

These boxes implement the protocols of harness and guest, so the judge runs as it does with a GPU. A model
determines how long each command takes. Nothing is computed; the outputs of calls are always right. So the
true time of a kernel is known, and the rest is the judge's own work. The toolchain `stub` executes kernels,
which would take hours for cases of a GPU's size.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import shutil
import struct
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from warmfront import gpus
from warmfront.hip.toolchain import DATA_FILE, HARNESS_SOURCE, LIBRARY_FILE, GuardZones, TranslatedSource
from warmfront.judge.plan_format import PLAN_HEADER
from warmfront.problems.spec import Scale
from warmfront.sandbox.base import BoxExit, BoxUsage, ExitReason, Template

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.case_data import CaseData
    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Case
    from warmfront.settings import Settings

_HEADER = struct.Struct("<IIQ")
_RUN_HEADER = struct.Struct("<IIQ")
_RUN_ANSWER = struct.Struct("<QIi64s")
_ALLOCATE_HEADER = struct.Struct("<IIIIQ")
_REGION = struct.Struct("<QQQQIIII")
_VERIFY_HEADER = struct.Struct("<64sIIQQ")
REFERENCES_SOURCE = HARNESS_SOURCE.with_name("device_references.h")
_REFERENCE = re.compile(r'^    \{"(?P<slug>[\w-]+)", \w+(?P<rows>, \w+)?\},$', re.MULTILINE)
_OK = 1
_UNKNOWN_LAUNCHES = 2**64 - 1


@dataclass
class ModeledGpu:
    """The model, its clock, and the data that the judge last passed to it."""

    copy_gbps: float  #: between host and device
    hbm_gbps: float = 4000.0
    reference_tflops: float = 5.0  #: of the harness's references, which are simple
    launch_us: float = 6.0
    sync_us: float = 10.0
    malloc_us: float = 50.0
    wake_us: float = 60.0  #: from a command to its execution, and back
    jitter_us: float = 15.0  #: standard deviation of that
    variation: float = 0.005  #: standard deviation of everything that the GPU does

    call_s: Callable[[Case], float] = lambda _: 0.0  #: the true time of a call
    flops: Callable[[Case], int] = lambda _: 0
    now_s: float = 0.0
    not_judge_s: float = 0.0  #: CPU time of this process that a GPU or the guest would have spent
    case: Case | None = None  #: of the data that was generated last
    filled: tuple[BufferLayout, CaseData] | None = None
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - noise

    def work(self, seconds: float) -> None:
        """Add about this much work of the GPU to the virtual time."""
        self.now_s += max(0.0, seconds * self.rng.gauss(1.0, self.variation))

    def wake(self) -> None:
        """Add the time in which a process receives a command and answers it."""
        self.now_s += max(0.0, self.rng.gauss(self.wake_us, self.jitter_us)) / 1e6


class ModeledBox:
    """A box whose program is a method that answers commands."""

    def __init__(self, gpu: ModeledGpu) -> None:
        self.gpu = gpu
        self.folder = Path(tempfile.mkdtemp(prefix="warmfront-modeled-", dir="/dev/shm"))
        (self.folder / DATA_FILE).touch()
        (self.folder / LIBRARY_FILE).write_bytes(b"a library")
        self._answer = b""

    def answer(self, op: int, payload: bytes) -> bytes:
        """Return the payload of the answer."""
        raise NotImplementedError

    def start(self) -> None:
        """Do nothing."""

    def go(self) -> None:
        """Do nothing."""

    def send(self, data: bytes) -> None:
        """Execute a command; the box of a compiler has none."""
        if len(data) < _HEADER.size:
            return
        started_s = time.thread_time()
        op, _, nonce = _HEADER.unpack_from(data)
        self.gpu.wake()
        body = self.answer(op, data[_HEADER.size :])
        self._answer = _HEADER.pack(_OK, len(body), nonce) + body
        self.gpu.not_judge_s += time.thread_time() - started_s

    def receive(
        self, size: int, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None
    ) -> bytes:
        """Return a part of the answer."""
        del timeout_s, cpu_timeout_s
        part, self._answer = self._answer[:size], self._answer[size:]
        return part

    def wait(self, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None) -> BoxExit:
        """Return that the program exited successfully."""
        del timeout_s, cpu_timeout_s
        return BoxExit(reason=ExitReason.EXITED, code=0)

    def freeze(self) -> None:
        """Do nothing."""

    def thaw(self) -> None:
        """Do nothing."""

    def usage(self) -> BoxUsage:
        """Return no usage."""
        return BoxUsage(cpu_s=0.0, waited_s=0.0)

    def set_cpu_weight(self, weight: int) -> None:
        """Do nothing."""

    def set_cpus(self, cpus: set[int]) -> bool:  # noqa: ARG002 - part of the interface
        """Do nothing: there is no process."""
        return False

    def destroy(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.destroy()


class ModeledGuest(ModeledBox):
    """The guest: its calls take their true time, and commands before LOAD take none."""

    is_loaded = False

    def answer(self, op: int, payload: bytes) -> bytes:
        """Answer a command of guest.cpp."""
        gpu = self.gpu
        if op == 1:  # LOAD
            self.is_loaded = True
        elif op == 2:  # PLAN
            arguments, slots, *_ = PLAN_HEADER.unpack_from(payload)
            return bytes(8 * arguments * slots)
        elif op == 3:  # RUN
            calls, _, _ = _RUN_HEADER.unpack_from(payload)
            call_s = gpu.call_s(gpu.case) if self.is_loaded and gpu.case else 0.0
            for _ in range(calls):
                gpu.work(call_s)
                gpu.now_s += 2 * gpu.sync_us / 1e6
            times = struct.pack(f"<{calls}d", *[call_s * 1e3] * calls)
            return _RUN_ANSWER.pack(_UNKNOWN_LAUNCHES, 0, 0, b"") + times
        elif op == 7:  # CHECK_DEVICE
            return _device_check()
        return b""


class ModeledHarness(ModeledBox):
    """The harness: it moves and checks no data, and the outputs that it returns are right."""

    inputs_bytes = 0
    outputs_bytes = 0
    flush_bytes = 0

    def answer(self, op: int, payload: bytes) -> bytes:
        """Answer a command of harness.cpp."""
        gpu, number = self.gpu, int.from_bytes(payload[:4], "little")
        hbm, copy = gpu.hbm_gbps * 1e9, gpu.copy_gbps * 1e9
        gpu.now_s += gpu.sync_us / 1e6
        if op == 1:  # ALLOCATE
            return self._allocate(payload)
        if op in {2, 9}:  # FILL, STORE_BASE
            gpu.work(self.inputs_bytes / copy)
        elif op == 3:  # REVEAL
            gpu.work((number * 2 * self.inputs_bytes + self.flush_bytes) / hbm)
        elif op == 4:  # SAVE
            gpu.work(number * 2 * self.outputs_bytes / hbm)
        elif op == 5:  # COLLECT
            gpu.work(2 * self.inputs_bytes / hbm + self.outputs_bytes / copy)
            self._write_outputs()
            return bytes(4)
        elif op == 7:  # DESCRIBE
            return json.dumps({"arch": gpus.MI300X.arch}).encode()
        elif op == 8:  # CHECK_DEVICE
            return _device_check()
        elif op == 10:  # MIX
            gpu.work(number * (4 * self.inputs_bytes + self.outputs_bytes) / hbm)
        elif op == 11:  # VERIFY
            return self._verify(*_VERIFY_HEADER.unpack_from(payload))
        return b""

    def _allocate(self, payload: bytes) -> bytes:
        slots, regions, bases, _, self.flush_bytes = _ALLOCATE_HEADER.unpack_from(payload)
        self.inputs_bytes = self.outputs_bytes = 0
        for index in range(regions):
            size, *_, is_output, _, _ = _REGION.unpack_from(
                payload, _ALLOCATE_HEADER.size + index * _REGION.size
            )
            self.inputs_bytes += 0 if is_output else size
            self.outputs_bytes += size if is_output else 0
        self.gpu.now_s += (2 * slots + bases) * regions * self.gpu.malloc_us / 1e6
        return bytes(64 * slots * regions)

    def _verify(self, slug: bytes, slots: int, _numbers: int, _key: int, row_share: int) -> bytes:
        references = device_references()
        name = slug.rstrip(b"\0").decode()
        if name not in references:
            return b""
        # The references read and write the expected outputs, which have twice the size, a few times.
        gpu, share = self.gpu, row_share if references[name] else 1
        traffic = 4 * self.inputs_bytes + 10 * self.outputs_bytes / share
        flops = gpu.flops(gpu.case) / share if gpu.case else 0.0
        gpu.work(slots * (traffic / gpu.hbm_gbps / 1e9 + flops / gpu.reference_tflops / 1e12))
        return slots.to_bytes(8, "little") + bytes(24 * slots)

    def _write_outputs(self) -> None:
        if self.gpu.filled is None:
            return
        layout, case_data = self.gpu.filled
        with (self.folder / DATA_FILE).open("r+b", buffering=0) as file:
            for region in layout.regions:
                if region.output:
                    image = layout.image(region, case_data.expected[region.name])
                    os.pwrite(file.fileno(), image.data, region.offset)


@functools.cache
def device_references() -> dict[str, bool]:
    """Return the problems that the harness has a reference of: whether it can compute a part of the rows."""
    source = REFERENCES_SOURCE.read_text()
    by_rows = {entry["slug"]: bool(entry["rows"]) for entry in _REFERENCE.finditer(source)}
    return {**by_rows, "array-sort": False}


def _device_check() -> bytes:
    return struct.pack("<QQ", gpus.MI300X.memory_bytes, gpus.MI300X.memory_bytes)


class ModeledSandbox:
    """A sandbox that creates modeled boxes."""

    name = "modeled"
    detail = "modeled"

    def __init__(self, gpu: ModeledGpu) -> None:
        self._gpu = gpu

    def settle(self) -> None:
        """Do nothing: boxes are created when they are taken."""

    def prepare(self, template: Template) -> None:
        """Do nothing."""

    def take(self, template: Template) -> ModeledBox:
        """Return a box by the name of its template."""
        return {"run": ModeledGuest, "harness": ModeledHarness}.get(template.name, ModeledBox)(self._gpu)

    def close(self) -> None:
        """Do nothing."""


class ModeledToolchain:
    """A replacement for `RocmToolchain`, without a compiler."""

    name = "rocm"
    simulated = False
    gpu = gpus.MI300X
    device: DeviceFacts | None = None
    guards = GuardZones(front_bytes=4096, back_bytes=4096, align=256)
    shared_memory = False
    flush_bytes = 512 << 20
    warm_up_s = 0.2
    counts_cpu_time = False
    scale = Scale.GPU
    checked_build = None
    compiler = "none"
    is_built = True
    first_build_notice = ""

    def __init__(self, modeled: ModeledGpu) -> None:
        self._modeled = modeled

    def elapsed_s(self) -> float:
        """Return the virtual time."""
        return self._modeled.now_s

    def keep_busy(self, seconds: float) -> bool:
        """Return False: only kernels keep the GPU busy."""
        del seconds
        return False

    def build(self) -> None:
        """Do nothing."""

    def translate(self, request: JudgeRequest) -> TranslatedSource:
        """Return the source."""
        return TranslatedSource(text=request.source)

    def compile_template(self, settings: Settings) -> Template:
        """Return the box of the compiler."""
        return Template(name="compile", argv=(), mounts=(), limits=settings.compile_limits())

    def run_template(self, settings: Settings) -> Template:
        """Return the box of the guest."""
        return Template(name="run", argv=(), mounts=(), limits=settings.run_limits())

    def harness_template(self, settings: Settings) -> Template:
        """Return the box of the harness."""
        return Template(name="harness", argv=(), mounts=(), limits=settings.run_limits())

    def explain(self, output: str, request: JudgeRequest, translated: TranslatedSource) -> CompileFailure:
        """Fail: nothing is compiled."""
        raise NotImplementedError
