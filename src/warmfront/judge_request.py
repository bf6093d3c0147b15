"""The input of the judge, one source for one problem, and functions that read a source file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import BadRequest, BadSourceFile
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.problems.spec import Case, Dtype, Problem
    from warmfront.verdicts import Endpoint

#: A kernel is a page or two of text. A larger file is a mistake, or an attack on the compiler.
MAX_SOURCE_BYTES = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """One kernel for one problem, and the endpoint it was sent to."""

    source: str  #: HIP source as the author wrote it
    problem: Problem
    dtype: Dtype
    endpoint: Endpoint
    file_name: str = "solution.hip"  #: the author's file name, for messages
    seed: int | None = None  #: seed of the inputs; None for a secret random one
    own_cases: tuple[Case, ...] = ()  #: the author's own, for a check only
    all_cases: bool = False  #: whether a check continues after a wrong answer

    def __post_init__(self) -> None:
        if self.own_cases and self.endpoint != "checker":  # they must never count for a timed verdict
            raise BadRequest(f"Own cases require the endpoint checker, not {self.endpoint.value!r}.")
        if self.all_cases and self.endpoint != "checker":
            raise BadRequest(f"`all_cases` requires the endpoint checker, not {self.endpoint.value!r}.")


def read_source(path: Path) -> str:
    """Return the text of a source file.

    Raises:
        BadSourceFile: the file cannot be read, is empty, too large or not UTF-8 text.
    """
    if path.is_dir():
        raise BadSourceFile(f"{path} is a directory.", hint="Pass one .hip file.")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)  # a device or a pipe may never end
    except FileNotFoundError:
        raise BadSourceFile(f"{path} does not exist.", hint="Check the path.") from None
    except OSError as error:
        raise BadSourceFile(
            f"{path} cannot be read: {error.strerror}.", hint="Check its permissions."
        ) from None
    return decode_source(data, str(path))


def decode_source(data: bytes, name: str) -> str:
    """Return source bytes as text with UNIX line ends.

    Raises:
        BadSourceFile: the source is empty, too large or not UTF-8 text.
    """
    if not data.strip():
        raise BadSourceFile(f"{name} is empty.", hint="Start from the starter code of the problem.")
    if len(data) > MAX_SOURCE_BYTES:
        raise BadSourceFile(
            f"{name} is too large: the limit is {MAX_SOURCE_BYTES:,} bytes.",
            hint="Remove data and generated tables from the source.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSourceFile(
            f"{name} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}.",
            hint="Save it as UTF-8 text.",
        ) from None
    if "\0" in text:
        raise BadSourceFile(f"{name} contains a NUL byte.", hint="Pass the source, not a compiled file.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
