"""The command line as real processes: exit codes, stdout and stderr."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warmfront.verdicts import Endpoint, is_terminal

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "leaky_relu.hip"

#: The documented order of events; TEST_RESULT and BENCHMARK_RESULT repeat.
ORDER = [
    "XRAY",
    "COMPILING",
    "CHECKING",
    "TEST_RESULT",
    "CHECKED",
    "BENCHMARKING",
    "BENCHMARK_RESULT",
    "BENCHMARKED",
    "ACCEPTED",
]


def warmfront(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "warmfront", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=600,
    )


def events(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Parse stdout as one event per line."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def run(source: Path, problem: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `warmfront run --json`."""
    return warmfront("run", source, "--problem", problem, "--json", *options, **environment)


@pytest.mark.parametrize(
    ("endpoint", "last"), [("checker", "CHECKED"), ("benchmark", "BENCHMARKED"), ("submit", "ACCEPTED")]
)
def test_the_json_stream_is_in_order_and_ends_with_the_verdict(endpoint: str, last: str) -> None:
    """Ids count from 1, statuses are in the documented order, and the one terminal event is the last."""
    result = run(EXAMPLE, "leaky-relu", "--endpoint", endpoint)
    assert result.returncode == 0, result.stderr
    stream = events(result)
    assert [event["id"] for event in stream] == list(range(1, len(stream) + 1))
    places = [ORDER.index(event["status"]) for event in stream]
    assert places == sorted(places)
    terminal = [event["status"] for event in stream if is_terminal(event["status"], Endpoint(endpoint))]
    assert terminal == [last]
    assert stream[-1]["status"] == last
    assert stream[-1]["simulated"] is True


def test_an_accepted_submission_has_samples_intervals_and_rates() -> None:
    """All raw samples are included, and the median lies in its confidence interval."""
    accepted = events(run(EXAMPLE, "leaky-relu"))[-1]
    assert accepted["passed_tests"] == accepted["total_tests"] > 0
    for timing in accepted["benchmark_results"]:
        low, high = timing["ci"]
        assert low <= timing["runtime_ms"] <= high
        assert len(timing["runs"]) >= 7
        assert timing["gbps"] > 0
    assert accepted["receipt"]["toolchain"] == "cpu"


def test_half_precision_is_chosen_by_dtype() -> None:
    """A `__half` kernel is judged with --dtype float16."""
    result = run(
        ROOT / "examples" / "leaky_relu_half.hip", "leaky-relu", "--endpoint", "checker", "--dtype", "float16"
    )
    assert events(result)[-1]["status"] == "CHECKED"
    assert result.returncode == 0


def test_an_own_case_is_checked_and_marked() -> None:
    """It is the first result; an invalid one is a usage error that names the field."""
    check = ("check", EXAMPLE, "--problem", "leaky-relu", "--json", "--case")
    result = warmfront(*check, "n=40,m=30,alpha=0.5,style=far")
    results = events(result)[-1]["test_results"]
    assert results[0]["name"] == "own: alpha = 0.5, n = 40, m = 30, far"
    assert results[0]["own"]
    assert not any(case["own"] for case in results[1:])
    for case, message in {
        "n=40,m=30": "own_cases[0].values.alpha is missing",
        "n=40,m=0,alpha=1": "own_cases[0].values.m is 0; allowed: a whole number from 1 to 1100",
        "n=40,m=many,alpha=1": "the value of m is 'many'",
        "n": "'n' is not NAME=VALUE, or repeats a name",
    }.items():
        rejected = warmfront(*check, case)
        assert rejected.returncode == 2
        assert message in rejected.stdout + rejected.stderr


def test_a_wrong_kernel_exits_with_1_and_shows_the_differences() -> None:
    """The table has index, expected and actual values; exit code 1 means that the kernel is wrong."""
    wrong = next((ROOT / "tests" / "corpus" / "solutions" / "wrong").glob("leaky_relu*.hip"))
    result = warmfront("run", wrong, "--problem", "leaky-relu", "--endpoint", "checker")
    assert result.returncode == 1
    for word in ("WRONG_ANSWER", "index", "expected", "actual", "difference", "→"):
        assert word in result.stdout
    every = warmfront("check", wrong, "--problem", "leaky-relu", "--all-cases")
    assert every.returncode == 1
    assert re.search(r"\d+ of \d+ cases failed\.", every.stdout)


@pytest.fixture(name="bad_file")
def _bad_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "kernel.hip"
    content: bytes | None = request.param
    if content is None:
        path.mkdir()
    elif content != b"missing":
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("bad_file", "message"),
    [
        (b"missing", "does not exist"),
        (b"", "is empty"),
        (None, "is a directory"),
        (b"\xff\xfe", "not UTF-8"),
        (b"/" * (256 * 1024 + 1), "the limit is 262,144"),
    ],
    indirect=["bad_file"],
    ids=["missing", "empty", "directory", "not UTF-8", "too large"],
)
def test_a_bad_file_is_a_usage_error(bad_file: Path, message: str) -> None:
    """Exit code 2, an error that names the file and the reason, a hint, and no traceback."""
    result = warmfront("run", bad_file, "--problem", "relu")
    assert result.returncode == 2
    assert message in result.stderr
    assert "kernel.hip" in result.stderr
    assert "→" in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout
    as_json = run(bad_file, "relu")
    assert as_json.returncode == 2
    assert [event["status"] for event in events(as_json)] == ["ERROR"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--problem", "leaky-rleu"), "leaky-relu"),
        (("--problem", "leaky-relu", "--dtype", "float64"), "float32 or float16"),
        (("--problem", "leaky-relu", "--endpoint", "guess"), "checker, benchmark, submit"),
        (("--problem", "leaky-relu", "--sandbox", "chroot"), "bubblewrap"),
        (("--problem", "leaky-relu", "--seed", "-1"), "seed"),
        ((), "problem"),
    ],
)
def test_a_bad_option_is_reported_with_the_allowed_values(options: tuple[str, ...], message: str) -> None:
    """The exit code is 2, and stderr lists what is allowed."""
    result = warmfront("run", EXAMPLE, *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_toolchain_is_reported() -> None:
    """A toolchain that does not exist is rejected before anything is compiled."""
    result = run(EXAMPLE, "leaky-relu", "--toolchain", "cuda")
    assert result.returncode in {2, 3}
    assert "cuda" in events(result)[-1]["message"]


def test_a_bad_setting_is_a_usage_error() -> None:
    """The error names the variable, and nothing runs."""
    result = run(EXAMPLE, "leaky-relu", AMD_CONTAINER_MEMORY_LIMIT="plenty")
    assert result.returncode == 2
    assert "AMD_CONTAINER_MEMORY_LIMIT" in events(result)[-1]["message"]


def test_isolation_is_off_only_for_trusted_code() -> None:
    """AMD_CONTAINER_ISOLATION=false is rejected without --trust."""
    rejected = run(EXAMPLE, "leaky-relu", AMD_CONTAINER_ISOLATION="false")
    assert rejected.returncode == 2
    assert events(rejected)[-1]["code"] == "ISOLATION_REQUIRED"
    trusted = run(EXAMPLE, "leaky-relu", "--endpoint", "checker", "--trust", AMD_CONTAINER_ISOLATION="false")
    assert events(trusted)[-1]["status"] == "CHECKED"
    compiling = next(event for event in events(trusted) if event["status"] == "COMPILING")
    assert "none" in compiling["sandbox"]


def test_without_a_sandbox_nothing_runs(tmp_path: Path) -> None:
    """With neither bubblewrap nor Docker the hint names what to install, and the exit code is 3."""
    for name in ("g++", "sh", "env"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    result = run(EXAMPLE, "leaky-relu", PATH=str(tmp_path), DOCKER_HOST=f"unix://{tmp_path}/none")
    assert result.returncode == 3
    last = events(result)[-1]
    assert last["code"] == "NO_SANDBOX"
    assert "bubblewrap" in last["hint"]


def test_a_seed_makes_a_run_reproducible() -> None:
    """Two runs of a wrong kernel with the same seed report the same differences; secret seeds do not."""
    wrong = next((ROOT / "tests" / "corpus" / "solutions" / "wrong").glob("leaky_relu*.hip"))
    command = (wrong, "leaky-relu", "--endpoint", "checker")
    first, second = (events(run(*command, "--seed", "7"))[-1]["debug_info"] for _ in range(2))
    secret = events(run(*command))[-1]["debug_info"]
    assert first == second
    assert secret != first


def test_problems_are_listed_shown_and_started() -> None:
    """`problems` lists all slugs, prints a statement, and prints starter code that defines `solution`."""
    listed = json.loads(warmfront("problems", "list", "--json").stdout)
    assert len(listed) == 14
    assert {"leaky-relu", "matrix-multiplication", "array-sort"} <= {problem["slug"] for problem in listed}
    assert "leaky-relu" in warmfront("problems", "list").stdout
    shown = warmfront("problems", "show", "matmul").stdout
    assert "input_a" in shown
    starter = warmfront("problems", "starter", "leaky-relu", "--dtype", "float16").stdout
    assert (
        'extern "C" void solution(const __half* input, float alpha, __half* output, size_t n, size_t m)'
        in starter
    )
    assert warmfront("problems", "show", "nothing").returncode == 2


def test_the_doctor_checks_this_machine() -> None:
    """Compilers, sandboxes and the GPU are listed, and a machine that can judge exits with 0."""
    report = json.loads(warmfront("doctor", "--json").stdout)
    assert report["can_judge"] is True
    names = {check["name"] for check in report["findings"]}
    assert {"compiler g++", "sandbox bubblewrap", "sandbox docker", "AMD GPU"} <= names
    assert warmfront("doctor").returncode == 0


SCRATCH = """
#include <hip/hip_runtime.h>
__global__ void scale(const int* x, int* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = 10 * x[threadIdx.x];
}
"""


def test_a_scratch_kernel_is_launched_and_its_buffers_are_printed(tmp_path: Path) -> None:
    """The values and what was not written are shown; an out-of-bounds access is located."""
    file = tmp_path / "scale.hip"
    file.write_text(SCRATCH)
    launch = ("launch", file, "--arg", "x=10:index", "--arg", "y=10")
    shown = warmfront(*launch, "--arg", "n=9")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stdout.startswith("scale.hip: scale, grid 1x1x1, block 64x1x1\n")
    heading, first, second = shown.stdout.splitlines()[-4:-1]
    assert heading == "y: 10 of type int, 1 never written"
    assert first.split() == ["0:", *(str(10 * i) for i in range(8))]
    assert second.split()[:2] == ["8:", "80"]
    assert "CHECKED" in shown.stdout
    assert "X-ray failed" not in shown.stderr
    failed = warmfront(*launch, "--arg", "n=64", "--json")
    assert failed.returncode == 1, failed.stderr
    xray, *_, verdict = events(failed)
    assert (xray["status"], xray["compiles"]) == ("XRAY", True)
    assert (verdict["status"], verdict["code"]) == ("RUNTIME_ERROR", "MEMORY_FAULT")
    assert "where `x` has 10 elements" in verdict["message"]
    missing = warmfront(*launch)
    assert missing.returncode == 2
    assert "`scale` needs --arg for n." in missing.stderr


def test_the_first_event_of_a_run_is_the_xray() -> None:
    """It has the registers and the occupancy of every kernel."""
    first = events(run(EXAMPLE, "leaky-relu", "--endpoint", "checker"))[0]
    assert first["status"] == "XRAY"
    assert first["compiles"] is True
    assert [kernel["name"] for kernel in first["kernels"]] == ["leaky_relu"]
    assert first["kernels"][0]["vgpr"] > 0
    assert 1 <= first["kernels"][0]["waves_per_simd"] <= 8


def test_a_verdict_mentions_that_the_compilers_disagree(tmp_path: Path) -> None:
    """A kernel that calls a host function runs on the CPU but does not compile for the GPU."""
    source = (ROOT / "tests" / "corpus" / "attacks" / "honest.hip").read_text()
    calls_host = source.replace(
        "__global__", "float positive(float x) { return x > 0.0f ? x : 0.0f; }\n\n__global__", 1
    )
    kernel = tmp_path / "kernel.hip"
    kernel.write_text(calls_host.replace("x[i] > 0.0f ? x[i] : 0.0f;\n}", "positive(x[i]);\n}"))
    last = events(run(kernel, "relu", "--endpoint", "checker"))[-1]
    assert last["status"] == "CHECKED"
    assert "does not compile for gfx942" in last["target"]
    matrix = events(run(ROOT / "tests" / "corpus" / "attacks" / "gpu_only.hip", "relu"))[-1]
    assert (matrix["status"], matrix["code"]) == ("COMPILE_ERROR", "GPU_ONLY")
    assert matrix["target"] == "It does compile for gfx942."
