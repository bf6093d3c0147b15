"""The judge on a stub GPU: harness, guest and IPC as with a GPU, on virtual time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, Attack, all_attacks, read
from tests.support.solutions import EXAMPLES
from tests.support.solutions import read as read_solution
from warmfront import problems, settings
from warmfront.hip.stub.oracle import OracleToolchain, oracle_source
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.judge import Judge, case_memory
from warmfront.judge.case_data import CaseGenerator
from warmfront.judge.case_memory import GUEST_OWNS_MEMORY
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

RELU = (Path(__file__).parents[3] / "examples" / "relu.hip").read_text()
HONEST = read(ATTACKS / "honest.hip").source

#: A kernel that writes far beyond its output, where nothing is mapped.
FAR_WRITE = """
__global__ void far(const float* x, float* y, size_t n) { y[n + 5000] = x[0]; }
extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  far<<<1, 1>>>(input, output, n * m);
}
"""


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
    dtype: Dtype = Dtype.FLOAT32,
    **changes: Any,
) -> dict[str, Any]:
    """Return the verdict for a source on a stub GPU."""
    request = JudgeRequest(source=source, problem=problems.get(problem), dtype=dtype, endpoint=endpoint)
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


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("fault=no_device", "hipErrorNoDevice"),
        ("fault=memory_full", "hipErrorOutOfMemory"),
        ("fault=off_the_bus,fault_launch=2", "hipErrorNoDevice"),
        ("fault=reset,reset_boxes=9", "hipErrorUnknown"),
        ("fault=ecc", "hipErrorECCNotCorrectable"),
    ],
)
def test_a_broken_device_is_not_the_authors_failure(sandbox: Sandbox, spec: str, says: str) -> None:
    """The verdict is ERROR, with the reason, whether the device fails at the start or in a case."""
    verdict = judge(sandbox, open_stub(spec))
    assert verdict["status"] == "ERROR", verdict
    assert says in verdict["message"], verdict


def test_a_device_that_hangs_for_everyone_is_not_the_authors_failure(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that reaches its time limit is blamed only if the device works in a new box."""
    monkeypatch.setattr(case_memory, "CHECK_TIMEOUT_S", 0.5)
    verdict = judge(sandbox, open_stub("fault=stuck"), case_timeout_s=0.5)
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert "The GPU did not respond" in verdict["message"]


def test_the_next_submission_is_unharmed_after_a_reset(sandbox: Sandbox) -> None:
    """The submission during the reset gets ERROR; the next one is judged."""
    toolchain = open_stub("fault=reset,reset_boxes=1")
    statuses = [judge(sandbox, toolchain)["status"] for _ in range(2)]
    assert statuses == ["ERROR", "CHECKED"]


def test_a_kernel_that_faults_is_its_authors_failure(sandbox: Sandbox) -> None:
    """The message of ROCm becomes a RUNTIME_ERROR with the tensor and the address."""
    verdict = judge(sandbox, open_stub(""), source=FAR_WRITE)
    assert (verdict["status"], verdict["code"]) == ("RUNTIME_ERROR", "MEMORY_FAULT"), verdict
    assert "`output[" in verdict["message"]
    assert "address 0x" in verdict["message"]


def test_a_kernel_that_never_ends_reaches_the_time_limit(sandbox: Sandbox) -> None:
    """The host blocks and uses no CPU time; the limit counts blocked time as well."""
    verdict = judge(sandbox, open_stub("fault=hang"), case_timeout_s=1.0)
    assert verdict["status"] == "TIME_LIMIT_EXCEEDED", verdict


def _examples() -> Iterator[Any]:
    for path in EXAMPLES:
        for sandbox in ("bubblewrap", "docker"):
            yield pytest.param(sandbox, path, id=f"{sandbox}-{path.stem}", marks=pytest.mark.slow)


@pytest.mark.parametrize(("box_maker", "path"), list(_examples()), indirect=["box_maker"])
def test_every_example_is_accepted_in_each_sandbox(box_maker: Sandbox, path: Path) -> None:
    """Harness and guest share the device between two boxes."""
    solution = read_solution(path)
    verdict = judge(
        box_maker,
        open_stub(""),
        source=path.read_text(),
        problem=solution.slug,
        endpoint=Endpoint.SUBMIT,
        dtype=solution.dtype,
    )
    assert verdict["status"] == "ACCEPTED", verdict
    assert verdict["simulated"] is True
    assert [timing["missing_guarantees"] for timing in verdict["benchmark_results"]] != [[GUEST_OWNS_MEMORY]]


def test_an_example_is_checked_in_each_sandbox(box_maker: Sandbox) -> None:
    """The quick variant of the test above."""
    verdict = judge(box_maker, open_stub(""), source=RELU)
    assert verdict["status"] == "CHECKED", verdict


def _forgers() -> Iterator[Any]:
    for attack in all_attacks():
        if attack.forges_time:
            yield pytest.param("bubblewrap", attack, id=attack.name, marks=pytest.mark.slow)


@pytest.mark.parametrize(("box_maker", "attack"), list(_forgers()), indirect=["box_maker"])
def test_a_forger_gains_nothing(box_maker: Sandbox, attack: Attack) -> None:
    """It is refused, or gets at least the time of its honest twin, which does the same work."""
    times_ms = []
    for source in (attack.source, attack.honest_twin):
        verdict = judge(
            box_maker,
            open_stub("kernel_us=100"),
            source=source,
            problem=attack.problem,
            endpoint=Endpoint.SUBMIT,
        )
        if verdict["status"] != "ACCEPTED":
            assert source == attack.source, verdict
            return
        times_ms.append(verdict["avg_runtime_ms"])
    forged_ms, true_ms = times_ms
    assert forged_ms >= 0.9 * true_ms
