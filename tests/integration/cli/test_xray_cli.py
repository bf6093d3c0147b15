"""`warmfront xray`: text, JSON, assembly and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.xray_harness import ROOT
from warmfront.cli.run_xray import print_xray

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"


def run(
    capsys: pytest.CaptureFixture[str], file: Path, *, problem: str | None = None, **options: Any
) -> tuple[int, str, str]:
    """X-ray a file on the command line and return exit code, stdout and stderr."""
    chosen = {"arch": "gfx942", "isa": False, "as_json": False, **options}
    code = print_xray(file, problem=problem, **chosen)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The text has the figures, the limiting resource and the next step."""
    code, out, err = run(capsys, EXAMPLES / "matmul.hip", problem="matmul")
    words = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "matmul.hip on an MI300X (gfx942)" in words
    assert "limited by vector registers" in words
    assert "fewer vector registers" in words
    assert "arithmetic is the bottleneck" in words
    assert "line 36: This is a matrix product without a matrix instruction" in words


def test_no_findings_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    """For a kernel without findings, the text says so."""
    code, out, _ = run(capsys, EXAMPLES / "leaky_relu.hip", problem="leaky-relu")
    assert code == 0
    assert "No findings." in out


def test_findings_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    """A finding has its line and its advice."""
    code, out, _ = run(capsys, EXAMPLES / "relu.hip")
    words = " ".join(out.split())
    assert code == 0
    assert "line 8: Each lane loads 4 bytes at a time" in words
    assert "→ Let a thread process 4 consecutive elements" in words


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON has the fields of the XRAY event, and nothing else is printed."""
    code, out, err = run(capsys, EXAMPLES / "matmul.hip", as_json=True, isa=True)
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert (data["file"], data["arch"], data["compiles"]) == ("matmul.hip", "gfx942", True)
    (kernel,) = data["kernels"]
    names = {"vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes", "spills", "waves_per_simd", "limited_by"}
    assert names <= set(kernel)
    assert kernel["instructions"]["vector ALU"] > 0
    assert kernel["isa"][0].keys() == {"line", "depth", "label", "instructions"}


def test_assembly_beside_source(capsys: pytest.CaptureFixture[str]) -> None:
    """With --isa, each source line is next to its instructions."""
    code, out, _ = run(capsys, EXAMPLES / "relu.hip", isa=True)
    (row,) = [
        row for row in out.splitlines() if "global_load_dword " in row or row.endswith("global_load_dword")
    ]
    assert code == 0
    assert "relu: source and assembly" in out
    assert "| global_load_dword" in row


def test_compile_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """For a file that does not compile, the line is shown and the exit code is 1."""
    file = tmp_path / "broken.hip"
    file.write_text("__global__ void k(float* x) {\n    x[0] = y;\n}\n")
    code, out, _ = run(capsys, file)
    assert code == 1
    assert "It does not compile for gfx942." in out
    assert "2 |     x[0] = y;" in out
    code, out, _ = run(capsys, file, as_json=True)
    assert code == 1
    assert json.loads(out)["failure"]["diagnostics"][0]["line"] == 2


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("nowhere.hip", {}, "does not exist"),
        ("", {}, "is a directory"),
        ("relu.hip", {"arch": "sm_90"}, "does not support the architecture 'sm_90'"),
        ("relu.hip", {"problem": "no-such-problem"}, "no-such-problem"),
    ],
)
def test_invalid_calls(
    capsys: pytest.CaptureFixture[str], file: str, options: dict[str, str], words: str
) -> None:
    """An invalid call has exit code 2, with the error on stderr or as JSON."""
    code, out, err = run(capsys, EXAMPLES / file, **options)
    assert (code, out) == (2, "")
    assert words in err
    code, out, err = run(capsys, EXAMPLES / file, as_json=True, **options)
    assert (code, err) == (2, "")
    assert words in json.loads(out)["message"]


def test_empty_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An empty file is a usage error."""
    file = tmp_path / "empty.hip"
    file.touch()
    code, _, err = run(capsys, file)
    assert code == 2
    assert "is empty" in err


def test_no_compiler(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel the exit code is 3, and the error has the command to install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    code, _, err = run(capsys, EXAMPLES / "relu.hip")
    assert code == 3
    assert "pip install ziglang" in err
