"""Oracle kernels: solutions that compute nothing, for benchmarks of the judge at the data size of a GPU.

Computing a case of GPU scale on two cores takes minutes. An oracle kernel finds the answer to its inputs,
which the benchmark has published, copies it to the outputs, and takes exactly the published time on the
device. So judge, harness, guest and protocol run as they do with a GPU, on all of the data, and the true time
is known:

    toolchain = OracleToolchain(settings.cache_dir, StubSpec.parse("scale=gpu,copy_gbps=10"))
    request = JudgeRequest(source=oracle_source(problem, dtype), problem=problem, dtype=dtype, ...)
    toolchain.answers.publish(problem, dtype, case_data.inputs, case_data.expected, duration_s=70e-6)
    ...  # judge the request
    toolchain.answers.clear()  # the answers of a case that is done

Publish the answer to every set of inputs before the judge uses it, for example in a subclass of
`CaseGenerator`, and for timed calls after `MixedInputs.fill`. The newest answer to the same inputs counts.
Without an answer the launch fails with hipErrorNotFound and leaves the poison in the outputs. Publishing
takes time in this process that a GPU would not take: subtract it (`publish_s`) from measured times.
"""

from __future__ import annotations

import functools
import os
import struct
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.hip.toolchain import TranslatedSource
from warmfront.hip.trailer import wrap_source
from warmfront.problems.spec import Kind
from warmfront.sandbox.base import Mount

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Dtype, Problem, Tensors
    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

    Array = np.ndarray[Any, Any]

#: The folder of the answers inside a box.
ANSWERS = "/gpu/answers"

MAX_TENSORS = 12
#: `Answer` in stub_oracle.cpp: file, duration in ns, number of tensors, fingerprint of the inputs, sizes.
_ANSWER = struct.Struct(f"<32sqQQ{MAX_TENSORS}Q")
_ALL_WORDS = 1 << 19
_FACTOR = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class OracleToolchain(StubToolchain):
    """The stub toolchain, for sources from `oracle_source`. Never use it for untrusted sources."""

    @functools.cached_property
    def answers(self) -> Answers:
        """The published answers."""
        return Answers(self.machine.folder / "answers")

    def translate(self, request: JudgeRequest) -> TranslatedSource:
        """Return the source unchanged. It uses names that are refused in a submission."""
        return TranslatedSource(text=wrap_source(request.source, request.problem, request.dtype))

    def run_template(self, settings: Settings) -> Template:
        """Return the box of the guest, which can read the answers."""
        template = super().run_template(settings)
        mount = Mount(host=self.answers.folder, inside=ANSWERS)
        env = {**template.env, "HIPCPU_STUB_ANSWERS": ANSWERS}
        return replace(template, env=env, mounts=(*template.mounts, mount))


class Answers:
    """A folder of answers that oracle kernels read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.publish_s = 0.0  #: CPU time of this process for publishing
        folder.mkdir()
        folder.chmod(0o755)
        self._count = 0
        self.clear()

    def publish(
        self, problem: Problem, dtype: Dtype, inputs: Tensors, outputs: Tensors, *, duration_s: float
    ) -> None:
        """Publish the outputs that oracle kernels return for these inputs.

        Args:
            problem: the problem that is solved.
            dtype: the dtype of the submission.
            inputs: the inputs, by the names in the signature.
            outputs: the outputs, likewise; they are converted to the dtypes of the signature.
            duration_s: how long the kernel takes at full clocks.
        """
        started_s = time.thread_time()
        sizes, fingerprint = [], 0
        name = f"answer-{self._count}"
        with (self.folder / name).open("wb", buffering=0) as file:
            for parameter in problem.signature:
                if parameter.kind is Kind.INPUT:
                    tensor = _bytes(inputs[parameter.name], parameter.dtype or dtype)
                    fingerprint = (fingerprint * _FACTOR + fingerprint_of(tensor)) & _MASK
                elif parameter.kind is Kind.OUTPUT:
                    tensor = _bytes(outputs[parameter.name], parameter.dtype or dtype)
                    _write_all(file.fileno(), tensor)
                else:
                    continue
                sizes.append(tensor.size)
        padded = sizes + [0] * (MAX_TENSORS - len(sizes))
        record = _ANSWER.pack(name.encode(), round(duration_s * 1e9), len(sizes), fingerprint, *padded)
        with (self.folder / "index").open("ab") as index:
            index.write(record)
        self._count += 1
        self.publish_s += time.thread_time() - started_s

    def clear(self) -> None:
        """Remove all answers."""
        for path in self.folder.iterdir():
            path.unlink()
        (self.folder / "index").touch()


def oracle_source(problem: Problem, dtype: Dtype) -> str:
    """Return a solution of the problem that launches one oracle kernel per call."""
    tensors = [
        f"{{{parameter.name}, {'true' if parameter.kind is Kind.OUTPUT else 'false'}}}"
        for parameter in problem.signature
        if parameter.kind in {Kind.INPUT, Kind.OUTPUT}
    ]
    return (
        "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <hipcpu/stub_gpu.h>\n"
        f"{problem.declaration(dtype)} {{\n"
        f"  const hipcpu_oracle_tensor tensors[] = {{{', '.join(tensors)}}};\n"
        f"  (void)hipcpu_launch_oracle(tensors, {len(tensors)}, nullptr);\n}}\n"
    )


def fingerprint_of(tensor: Array) -> int:
    """Return the fingerprint of the bytes of a tensor, as stub_oracle.cpp computes it."""
    words = tensor[: tensor.size // 8 * 8].view(np.uint64)
    stride = 1 if words.size <= _ALL_WORDS else words.size >> 16
    chosen = words[::stride][: words.size // stride]
    factors = np.arange(chosen.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    rest = int.from_bytes(tensor[words.size * 8 :].tobytes(), "little")
    return (tensor.size + int((chosen * factors).sum(dtype=np.uint64)) + rest * _FACTOR) & _MASK


def _bytes(tensor: Array, dtype: Dtype) -> Array:
    return np.ascontiguousarray(tensor, dtype=dtype.value).reshape(-1).view(np.uint8)


def _write_all(fd: int, data: Array) -> None:
    rest = memoryview(data.data)
    while rest:
        rest = rest[os.write(fd, rest) :]
