"""The judge on a stub GPU: harness, guest and IPC as with a GPU, on virtual time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, read
from warmfront import problems, settings
from warmfront.hip.stub.oracle import OracleToolchain, oracle_source
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.judge import Judge
from warmfront.judge.case_data import CaseGenerator
from warmfront.judge.timed_inputs import MixedInputs
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.case_data import CaseData
    from warmfront.sandbox.base import Sandbox

HONEST = read(ATTACKS / "honest.hip").source


@pytest.fixture(name="sandbox")
def _sandbox() -> Iterator[Sandbox]:
    with closing(open_sandbox(TRUSTED)) as sandbox:
        yield sandbox


def open_stub(spec: str) -> StubToolchain:
    """Return a stub GPU with these parameters."""
    return StubToolchain(settings.load().cache_dir, StubSpec.parse(spec))


def judge(
    sandbox: Sandbox,
    toolchain: StubToolchain,
    *,
    source: str = HONEST,
    problem: str = "relu",
    endpoint: Endpoint = Endpoint.CHECKER,
    **changes: Any,
) -> dict[str, Any]:
    """Return the verdict for a source on a stub GPU."""
    request = JudgeRequest(
        source=source, problem=problems.get(problem), dtype=Dtype.FLOAT32, endpoint=endpoint
    )
    *_, verdict = Judge(toolchain, sandbox, replace(settings.load(), **changes)).judge(request)
    return verdict.fields()


def test_an_honest_kernel_is_accepted_with_its_true_time(sandbox: Sandbox) -> None:
    """The time is that of the model, whatever this machine does; the result says that it is simulated."""
    toolchain = open_stub("kernel.relu=400,idle_clock=1")
    verdict = judge(sandbox, toolchain, endpoint=Endpoint.SUBMIT)
    assert verdict["status"] == "ACCEPTED", verdict
    assert verdict["simulated"] is True
    assert verdict["receipt"]["toolchain"] == "stub"
    [timing] = verdict["benchmark_results"]
    assert timing["missing_guarantees"] == []
    assert timing["runtime_ms"] == pytest.approx(0.4, rel=0.1)


def test_an_oracle_answers_what_was_published(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that computes nothing is correct for published inputs, and takes the published time."""
    toolchain = OracleToolchain(settings.load().cache_dir, StubSpec.parse("idle_clock=1"))
    problem = problems.get("softmax")
    generate = CaseGenerator.generate

    def generate_and_publish(self: CaseGenerator, number: int, sample: int = 0) -> CaseData:
        data = generate(self, number, sample=sample)
        toolchain.answers.publish(problem, Dtype.FLOAT32, data.inputs, data.expected, duration_s=5e-4)
        return data

    mix = MixedInputs.fill

    def mix_and_publish(self: MixedInputs, layout: BufferLayout, calls: int) -> None:
        mix(self, layout, calls)
        for data in self.filled_cases(layout):
            toolchain.answers.publish(problem, Dtype.FLOAT32, data.inputs, data.expected, duration_s=5e-4)

    source = oracle_source(problem, Dtype.FLOAT32)
    unpublished = judge(sandbox, toolchain, source=source, problem="softmax")
    assert "hipErrorNotFound" in unpublished["message"]
    monkeypatch.setattr(CaseGenerator, "generate", generate_and_publish)
    monkeypatch.setattr(MixedInputs, "fill", mix_and_publish)
    verdict = judge(sandbox, toolchain, source=source, problem="softmax", endpoint=Endpoint.SUBMIT)
    assert verdict["status"] == "ACCEPTED", verdict
    assert verdict["avg_runtime_ms"] == pytest.approx(0.5, rel=0.1)
