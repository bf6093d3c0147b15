"""Tests that a machine without g++ and clang++, but with the `ziglang` wheel, gives the same verdicts.

The first test builds the wheel's C++ library into the cache, which takes a minute or two.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.judge.test_attacks import judge_source
from tests.integration.judge.test_solutions import PORTED, WRONG, judged, name
from tests.support import bug_corpus
from tests.support.attacks import Attack, all_attacks
from tests.support.solutions import EXAMPLES, read
from warmfront import sandbox, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.cpu.zig import find_zig_compiler
from warmfront.hip.zig_wheel import require_wheel
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.settings import Settings

    MakeJudge = Callable[[Settings], Judge]

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module", name="make_judge")
def _make_judge() -> Iterator[MakeJudge]:
    """Return a function that creates a judge which compiles with the wheel."""
    maker = sandbox.open_sandbox("bubblewrap")

    def make(configured: Settings) -> Judge:
        compiler = find_zig_compiler(require_wheel("The CPU's"), configured.cache_dir)
        return Judge(CpuToolchain(configured.cache_dir, compiler), maker, configured)

    yield make
    maker.close()


@pytest.fixture(scope="module", name="wheel_judge")
def _wheel_judge(make_judge: MakeJudge) -> Judge:
    return make_judge(settings.load({}, env_file=None))


@pytest.fixture(scope="module", name="tight_judge")
def _tight_judge(make_judge: MakeJudge, tight: Settings) -> Judge:
    return make_judge(tight)


def without_compilers(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command without access to compilers, the linker, and C and C++ headers."""
    hidden = {Path(found).resolve() for tool in ("g++", "clang++", "ld") if (found := shutil.which(tool))}
    hide = [part for path in hidden for part in ("--ro-bind", "/dev/null", path)]
    bare = ["bwrap", "--dev-bind", "/", "/", *hide, "--tmpfs", "/usr/include", "--tmpfs", "/usr/lib/gcc"]
    return subprocess.run([*bare, *command], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize("path", [*EXAMPLES, *PORTED, *WRONG], ids=name)
def test_a_solution_gets_the_same_verdict(wheel_judge: Judge, path: Path) -> None:
    """Examples and ported kernels are accepted; each incorrect variant gets the verdict in its first line."""
    solution = read(path)
    events = judged(wheel_judge, solution)
    assert events[-1]["status"] == solution.verdict, events[-1]


@pytest.mark.parametrize("kernel", ["misaligned_float4", "misaligned_rows", "misaligned_shared"])
def test_vectors_can_be_at_any_address(wheel_judge: Judge, kernel: str) -> None:
    """As on a GPU, and with g++."""
    specimen = bug_corpus.read(bug_corpus.HERE / f"faulty/{kernel}.hip")
    request = JudgeRequest(
        source=specimen.source, problem=specimen.problem, dtype=specimen.dtype, endpoint=Endpoint.CHECKER
    )
    event = list(wheel_judge.judge(request))[-1].fields()
    assert event["status"] == "CHECKED", event


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_an_attack_gets_the_same_verdict(tight_judge: Judge, attack: Attack) -> None:
    """Hostile and broken sources get the same verdict, code and message as with g++."""
    source = attack.source.replace("@PORT@", "9").replace("@SECRET@", "/etc/shadow")
    last = judge_source(tight_judge, source, attack.endpoint)[-1]
    assert last["status"] in attack.verdicts, last
    assert not attack.codes or last["code"] in attack.codes, last
    for words in attack.says:
        assert words in f"{last['message']} {last['hint']}", last


def test_the_guest_catches_exceptions(tight_judge: Judge) -> None:
    """The guest catches an exception of `solution`, with its message: both use the same C++ library."""
    source = """#include <hip/hip_runtime.h>
    #include <stdexcept>
    extern "C" void solution(const float*, float*, size_t, size_t) { throw std::range_error("too far"); }
    """
    last = judge_source(tight_judge, source, "checker")[-1]
    assert last["status"] == "RUNTIME_ERROR"
    assert "too far" in last["message"]


def test_run_works_with_the_wheel() -> None:
    """`run` prints the verdict, which compiler was used, and that the bug finder is missing."""
    run = (Path(sys.executable).with_name("warmfront"), "run", EXAMPLES[0], "--endpoint", "checker", "--json")
    result = without_compilers(*run, "--problem", read(EXAMPLES[0]).slug)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert events[-1]["status"] == "CHECKED", result.stderr
    assert events[-1]["bug_finder"] == "The bug finder cannot be built on this machine."
    compiling = next(event for event in events if event["status"] == "COMPILING")
    assert "ziglang" in compiling["compiler"]


def test_doctor_names_the_compiler_and_the_reason() -> None:
    """`doctor` names the wheel's compiler, the reason, and the command that installs g++."""
    result = without_compilers(Path(sys.executable).with_name("warmfront"), "doctor", "--json")
    report = json.loads(result.stdout)
    found = {finding["name"]: finding for finding in report["findings"]}
    assert report["can_judge"] is True
    assert found["compiler in use"]["detail"].startswith("ziglang: there is no g++ or clang++")
    assert found["compiler g++"]["works"] is False
    assert "apt-get install g++" in found["compiler g++"]["fix"]
