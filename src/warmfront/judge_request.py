"""What the judge is given: one source for one problem, and how a source file is read.

Nothing in here does any work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import BadSourceFile

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.problems.spec import Dtype, Problem
    from warmfront.verdicts import Endpoint

#: A kernel is a page or two of text. More is a mistake, or an attack on the compiler.
MAX_SOURCE_BYTES = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """One kernel, for one problem, with one thing to do."""

    source: str  #: HIP source, as its author wrote it
    problem: Problem
    dtype: Dtype
    endpoint: Endpoint
    file_name: str = "solution.hip"  #: what its author calls it, for messages
    seed: int | None = None  #: None: a secret one, different every time


def read_source(path: Path) -> str:
    """The text of a source file, or `BadSourceFile` saying what is wrong with it."""
    if path.is_dir():
        raise BadSourceFile(f"{path} is a directory.", hint="Name one .hip file.")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)  # a device or a pipe may have no end
    except FileNotFoundError:
        raise BadSourceFile(
            f"{path} does not exist.", hint="Check the path; `ls` shows what is there."
        ) from None
    except OSError as error:
        raise BadSourceFile(
            f"{path} cannot be read: {error.strerror}.", hint="Check its permissions."
        ) from None
    return decode_source(data, str(path))


def decode_source(data: bytes, name: str) -> str:
    """Source bytes as text, or `BadSourceFile` saying what is wrong with them."""
    if not data.strip():
        raise BadSourceFile(
            f"{name} is empty.", hint="`warmfront problems starter SLUG` prints code to begin with."
        )
    if len(data) > MAX_SOURCE_BYTES:
        raise BadSourceFile(
            f"{name} is too long: at most {MAX_SOURCE_BYTES:,} bytes are taken.",
            hint="A kernel is a page or two of text: leave data and generated tables out.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSourceFile(
            f"{name} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}.",
            hint="Save it as UTF-8 text.",
        ) from None
    if "\0" in text:
        raise BadSourceFile(f"{name} contains a NUL byte.", hint="Name the source, not a compiled file.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
