"""The result of a compiler, with a fake box."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from warmfront.hip.toolchain import LIBRARY_FILE
from warmfront.judge import compilation
from warmfront.judge.compile_jobs import CompileJob
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import BoxExit, ExitReason
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.hip.toolchain import Toolchain, TranslatedSource
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Box

LIMIT_BYTES = 3 << 20


SUCCESS = BoxExit(reason=ExitReason.EXITED, code=0)


def finish(folder: Path, end: BoxExit = SUCCESS) -> compilation.CompiledLibrary:
    """Finish a compile job whose compiler ended like this and wrote to this folder."""
    box = SimpleNamespace(folder=folder, wait=lambda: end)
    unused = cast("tuple[JudgeRequest, Toolchain, TranslatedSource]", (None, None, None))
    return compilation.finish(CompileJob(cast("Box", box), 0.0), *unused, limit_bytes=LIMIT_BYTES)


def test_a_library_within_the_limit(tmp_path: Path) -> None:
    """A library of exactly the maximum size is read."""
    (tmp_path / LIBRARY_FILE).write_bytes(bytes(LIMIT_BYTES))
    assert finish(tmp_path).library == bytes(LIMIT_BYTES)


def test_a_library_that_is_too_large(tmp_path: Path) -> None:
    """A library of a terabyte is not read; the error names the limit and the setting."""
    with (tmp_path / LIBRARY_FILE).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(KernelFailure) as caught:
        finish(tmp_path)
    event = caught.value.event
    assert (event.verdict, event.code) == (Verdict.COMPILE_ERROR, "LIBRARY_TOO_LARGE")
    assert "3 MiB (WARMFRONT_LIBRARY_SIZE_LIMIT)" in event.message


@pytest.mark.parametrize(
    "output",
    [
        b"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
        b"clang++: error: unable to execute command: Killed\n",
    ],
)
def test_a_killed_part_of_the_compiler(tmp_path: Path, output: bytes) -> None:
    """Memory was exhausted, even if the sandbox did not report that."""
    (tmp_path / LIBRARY_FILE).touch()  # as every box does before the compiler starts
    with pytest.raises(KernelFailure) as caught:
        finish(tmp_path, BoxExit(reason=ExitReason.EXITED, code=1, output=output))
    assert caught.value.event.code == "COMPILE_MEMORY_LIMIT"
