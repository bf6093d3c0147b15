"""Tests of the second attempt to compile: without the second forms of kernels, or without vectorizing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import bug_corpus
from warmfront import sandbox, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.source import SECOND_FORM
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.hip.toolchain import TranslatedSource

    Check = Callable[[str], dict[str, Any]]

TREE = bug_corpus.read(bug_corpus.HERE / "correct/tree.hip")


@pytest.fixture(name="check")
def _check() -> Iterator[Check]:
    """Return a function that checks a source and returns the last event."""
    configured = settings.load({"WARMFRONT_BUG_FINDER": "false"}, env_file=None)
    maker = sandbox.open_sandbox("bubblewrap", base=configured.box_dir)
    judge = Judge(CpuToolchain(configured.cache_dir), maker, configured)

    def check(source: str) -> dict[str, Any]:
        request = JudgeRequest(
            source=source, problem=TREE.problem, dtype=TREE.dtype, endpoint=Endpoint.CHECKER
        )
        return list(judge.judge(request))[-1].fields()

    yield check
    maker.close()


def spoil_second_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a second form that does not compile to every translation."""
    translate = CpuToolchain.translate

    def with_bad_form(toolchain: CpuToolchain, request: JudgeRequest) -> TranslatedSource:
        translated = translate(toolchain, request)
        return replace(translated, text=f"{translated.text}\n{SECOND_FORM}(int second_form = nothing;)\n")

    monkeypatch.setattr(CpuToolchain, "translate", with_bad_form)


def test_a_kernel_with_second_forms_passes(check: Check) -> None:
    """The kernel of these tests has a second form, so the second attempt applies to it."""
    request = JudgeRequest(
        source=TREE.source, problem=TREE.problem, dtype=TREE.dtype, endpoint=Endpoint.CHECKER
    )
    configured = settings.load({}, env_file=None)
    assert SECOND_FORM in CpuToolchain(configured.cache_dir).translate(request).text
    assert check(TREE.source)["status"] == "CHECKED"


def test_a_bad_second_form_does_not_fail_a_kernel(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a second form does not compile, the kernel is compiled without it, and is correct."""
    spoil_second_forms(monkeypatch)
    assert check(TREE.source)["status"] == "CHECKED"


def test_messages_are_about_the_authors_lines(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the author is reported alone, at its line, and not the error of the second form."""
    spoil_second_forms(monkeypatch)
    lines = TREE.source.splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "__syncthreads" in line)
    lines[number - 1] += " undeclared = 1;"
    event = check("\n".join(lines) + "\n")
    assert event["status"] == "COMPILE_ERROR"
    assert f":{number}:" in event["message"]
    assert "undeclared" in event["message"]
    assert "second_form" not in event["message"]


#: A shell function in place of the compiler: unless vectorizing is switched off, it fails by its own defect.
FAILING_COMPILER = """compile() {
  case "$*" in
    *-fno-tree-vectorize) g++ "$@" ;;
    *) echo "x.h:1:1: internal compiler error: in vect_is_simple_use, at x.cc:1" >&2; return 1 ;;
  esac
}
compile"""


def test_a_defect_of_the_compiler_does_not_fail_a_kernel(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the vectorizer of g++ fails, the kernel is compiled without it."""
    real = CpuToolchain._compile_command
    monkeypatch.setattr(CpuToolchain, "_compile_command", lambda self: [FAILING_COMPILER, *real(self)[1:]])
    assert check(TREE.source)["status"] == "CHECKED"


def test_a_source_that_prints_such_a_message_fails(check: Check) -> None:
    """The text of the author's own error does not hide it."""
    event = check(f"#error internal compiler error: in my code\n{TREE.source}")
    assert event["status"] == "COMPILE_ERROR"
    assert "in my code" in event["message"]
