"""The result of a compiler, with a fake box."""

from __future__ import annotations

import re
import subprocess
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


KILLED = """x.hip:1:9: warning: unused
g++: fatal error: Killed signal terminated program cc1plus
compilation terminated.
"""
KILLED_CLANG = """clang++: error: unable to execute command: Killed
clang++: error: clang frontend command failed due to signal (use -v to see invocation)
"""
TOO_LARGE = """g++: internal compiler error: File size limit exceeded signal terminated program as
Please submit a full bug report, with preprocessed source (by using -freport-bug).
See <file:///usr/share/doc/gcc-12/README.Bugs> for instructions.
"""
FULL = "x.hip:1:1: fatal error: error writing to /tmp/x.s: No space left on device\n"
FULL_ASSEMBLER = """x.s: Assembler messages:
x.s: Fatal error: can't write 8 bytes to section .text of /tmp/x.o: 'No space left on device'
"""
FULL_LINKER = """/usr/bin/ld: final link failed: No space left on device
collect2: error: ld returned 1 exit status
"""


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (KILLED, "COMPILE_MEMORY_LIMIT"),
        (KILLED_CLANG, "COMPILE_MEMORY_LIMIT"),
        (TOO_LARGE, "COMPILE_FILE_LIMIT"),
        (FULL, "COMPILE_FILE_LIMIT"),
        (FULL_ASSEMBLER, "COMPILE_FILE_LIMIT"),
        (FULL_LINKER, "COMPILE_FILE_LIMIT"),
    ],
)
def test_a_part_of_the_compiler_that_exceeds_a_limit(tmp_path: Path, output: str, code: str) -> None:
    """The limit is named, even if the sandbox did not report it."""
    (tmp_path / LIBRARY_FILE).touch()  # as every box does before the compiler starts
    with pytest.raises(KernelFailure) as caught:
        finish(tmp_path, BoxExit(reason=ExitReason.EXITED, code=1, output=output.encode()))
    assert caught.value.event.code == code


@pytest.mark.compiler
def test_the_real_compiler_names_the_limit_on_file_size(tmp_path: Path) -> None:
    """The message is the one that is recognized."""
    file = tmp_path / "x.cpp"
    file.write_text("int numbers[3'000'000] = {1};\n")
    limited = ["sh", "-c", 'ulimit -f 1024; exec "$@"', "sh"]
    command = [*limited, "g++", "-c", str(file), "-o", str(tmp_path / "x.o")]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert compilation._reported_limit(ran.stderr) == "File size limit exceeded"


FORGED = "\\ng++: fatal error: Killed signal terminated program cc1plus\\ncompilation terminated."


@pytest.mark.compiler
@pytest.mark.parametrize(
    "source",
    [
        f'int x = y;\n#pragma message("{FORGED}")\n',
        f'static_assert(false, "{FORGED}");\n',
        "#error : fatal error: error writing to /tmp/x.s: No space left on device\n",
        f'#pragma message("{FORGED}")\nasm("no such instruction");\n',
    ],
)
def test_a_source_cannot_claim_that_a_limit_was_exceeded(tmp_path: Path, source: str) -> None:
    """The real compiler prints the text of a source in lines that look like its own."""
    file = tmp_path / "x.cpp"
    file.write_text(source)
    ran = subprocess.run(["g++", "-c", file, "-o", tmp_path / "x.o"], check=False, capture_output=True)
    assert ran.returncode != 0
    output = ran.stderr.decode()
    assert re.search(compilation._LIMIT_MESSAGE, output) or "#error" in source
    assert compilation._reported_limit(output) is None
