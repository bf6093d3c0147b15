"""Real kernels through the real judge: correct kernels pass, wrong variants get the expected verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.solutions import EXAMPLES, Solution, read
from warmfront import problems, sandbox, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PORTED = sorted((ROOT / "tests/corpus/solutions/ported").glob("*.hip"))
WRONG = sorted((ROOT / "tests/corpus/solutions/wrong").glob("*.hip"))
SLUGS = [problem.slug for problem in problems.all_problems()]


def name(path: Path) -> str:
    """Return a test id such as `wrong/softmax_unstable`."""
    return f"{path.parent.name}/{path.stem}"


@pytest.fixture(scope="module", name="bubblewrap_judge")
def _bubblewrap_judge() -> Iterator[Judge]:
    """Yield a judge with default limits."""
    configured = settings.load({}, env_file=None)
    maker = sandbox.open_sandbox("bubblewrap", base=configured.box_dir)
    yield Judge(CpuToolchain(configured.cache_dir), maker, configured)
    maker.close()


def judged(judge: Judge, solution: Solution) -> list[dict[str, Any]]:
    """Return all events of a check."""
    problem = problems.get(solution.slug)
    submission = JudgeRequest(
        source=solution.path.read_text(),
        problem=problem,
        dtype=solution.dtype,
        endpoint=solution.endpoint,
    )
    return [event.fields() for event in judge.judge(submission)]


@pytest.mark.parametrize("path", [*EXAMPLES, *PORTED, *WRONG], ids=name)
def test_solutions_get_the_expected_verdict(bubblewrap_judge: Judge, path: Path) -> None:
    """Examples and ported kernels are accepted; each wrong variant gets the verdict in its header."""
    solution = read(path)
    events = judged(bubblewrap_judge, solution)
    assert events[-1]["status"] == solution.verdict, events[-1]
    assert [is_terminal(event["status"], solution.endpoint) for event in events].count(True) == 1


@pytest.mark.parametrize("paths", [EXAMPLES, PORTED, WRONG], ids=["examples", "ported", "wrong"])
def test_every_problem_has_its_solutions(paths: list[Path]) -> None:
    """Every problem has an example, a ported kernel and a wrong variant."""
    assert {problems.get(read(path).slug).slug for path in paths} == set(SLUGS)


@pytest.mark.parametrize("path", WRONG, ids=name)
def test_headers_of_wrong_variants(path: Path) -> None:
    """The header of a wrong variant has a failing verdict and a reason."""
    assert read(path).verdict in {"WRONG_ANSWER", "RUNTIME_ERROR"}
    assert re.search(r"^// why: .+$", path.read_text(), re.MULTILINE)
