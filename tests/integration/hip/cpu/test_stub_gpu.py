"""The model of the stub GPU: the virtual time of work, and the effects of faults."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from warmfront import gpus
from warmfront.hip import cpu
from warmfront.hip.stub.stub_device import StubMachine
from warmfront.hip.stub.stub_spec import StubSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

#: A model in which only the parameters that a test adds take time.
QUIET = (
    "copy_us=0,launch_us=0,sync_us=0,event_us=0,call_us=0,malloc_us=0,kernel_us=0,bytes_per_thread=0,"
    "idle_clock=1,host_allowance_us=1e9"
)


class StubProgram:
    """Runs the steps of one program on a stub GPU."""

    def __init__(self, programs: Programs, machine: StubMachine) -> None:
        self._programs = programs
        self.machine = machine

    def run(
        self, spec: str, *steps: str, prefix: tuple[str, ...] = (), **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the steps with these parameters on top of `QUIET`."""
        return subprocess.run(
            [*prefix, self._programs.build("stub_timeline"), *steps],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env={
                **cpu.RUN_ENV,
                "HIPCPU_STUB_GPU": StubSpec.parse(f"{QUIET},{spec}").runtime_text(gpus.MI300X),
                "HIPCPU_STUB_STATE": str(self.machine.folder / "state"),
                **environ,
            },
        )

    def virtual_us(self, spec: str, *steps: str) -> float:
        """Return the virtual time of the steps, in microseconds."""
        before_s = self.machine.now_s()
        result = self.run(spec, *steps)
        assert result.returncode == 0, result.stdout + result.stderr
        return (self.machine.now_s() - before_s) * 1e6


@pytest.fixture(name="program")
def _program(programs: Programs, tmp_path: Path) -> Iterator[StubProgram]:
    machine = StubMachine(4, tmp_path)
    yield StubProgram(programs, machine)
    machine.close()


@pytest.mark.parametrize(
    ("spec", "steps", "expected_us"),
    [
        ("", (), 0.0),
        ("copy_gbps=10", ("upload",), 1000.0),
        ("copy_gbps=10", ("download",), 1000.0),
        ("copy_gbps=10,copy_us=7,sync_us=5", ("upload",), 1012.0),
        ("copy_gbps=10,pinned_gbps=50", ("upload-pinned",), 200.0),
        ("hbm_gbps=4000", ("copy", "wait"), 5.0),
        ("hbm_gbps=4000", ("fill", "wait"), 2.5),
        ("kernel.work=30", ("launch", "launch", "wait"), 60.0),
        ("kernel.work=30,launch_us=6,sync_us=8", ("launch", "wait"), 44.0),
        ("kernel.work=30", ("launch",), 0.0),
        ("kernel.work=30,pinned_gbps=50", ("launch", "upload-async", "wait"), 200.0),
        ("kernel.work=30", ("launch", "launch-stream", "wait"), 60.0),
        ("kernel_us=4,hbm_gbps=1,bytes_per_thread=1000", ("launch", "wait"), 5.0),
        ("kernel.work=30,event_us=2", ("start", "launch", "stop", "poll"), 34.0),
        ("malloc_us=50", (), 150.0),
        ("first_touch_gbps=10", ("fill", "wait", "fill", "wait"), 1005.0),
    ],
)
def test_work_takes_what_the_model_says(
    program: StubProgram, spec: str, steps: tuple[str, ...], expected_us: float
) -> None:
    """Copies block or overlap, kernels follow one another, and only a synchronization waits for them."""
    assert program.virtual_us(spec, *steps) == pytest.approx(expected_us, abs=1.5)


def test_events_are_on_the_timeline_of_the_device(program: StubProgram) -> None:
    """The time between two events is that of the work between them."""
    result = program.run("kernel.work=250", "start", "launch", "launch", "stop", "wait", "elapsed")
    assert float(result.stdout) == pytest.approx(0.5)


def test_an_idle_device_has_low_clocks(program: StubProgram) -> None:
    """Kernels are slower until the device has been busy for a while; a pause lowers the clocks again."""
    spec = "kernel.work=1000,idle_clock=0.5,idle_us=5000,ramp_us=3000"
    assert program.virtual_us(spec, "launch", "wait") == pytest.approx(1582.6, abs=2)  # 0.5 t + t²/12 = 1 ms
    assert program.virtual_us(spec, "launch", "launch", "launch", "wait") < 3400
    assert program.virtual_us(spec, "launch", "wait") == pytest.approx(1000, abs=2)
    program.machine.advance(0.006)
    assert program.virtual_us(spec, "launch", "wait") == pytest.approx(1582.6, abs=2)
    program.machine.keep_busy(0.003)
    assert program.virtual_us(spec, "launch", "wait") == pytest.approx(1000, abs=2)


def test_host_code_counts_beyond_the_allowance(program: StubProgram) -> None:
    """Computing on the host takes virtual time, except for the few microseconds of a launch."""
    assert program.virtual_us("host_allowance_us=200", "launch", "compute", "wait") > 2000


def test_a_second_process_waits_for_the_first_ones_kernel(program: StubProgram) -> None:
    """There is only one device, so a copy of the harness runs after the pending work of the guest."""
    assert program.virtual_us("kernel.work=400", "launch") == pytest.approx(0, abs=1)
    assert program.virtual_us("kernel.work=400", "copy", "wait") == pytest.approx(405, abs=2)


def test_each_visible_device_has_its_own_time(program: StubProgram) -> None:
    """ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES choose devices, by number or by id."""
    spec = "devices=4,kernel.work=100"
    program.run(spec, "launch", "wait", ROCR_VISIBLE_DEVICES="GPU-5700000000000002")
    times_us = [program.machine.now_s(device) * 1e6 for device in range(4)]
    assert times_us == pytest.approx([0, 0, 100, 0], abs=1)
    chosen = program.run(spec, "describe", ROCR_VISIBLE_DEVICES="3,1", HIP_VISIBLE_DEVICES="1,0")
    assert chosen.stdout.splitlines() == ["gfx942 304 6", "gfx942 304 8"]
    assert (
        program.run(spec, "describe", ROCR_VISIBLE_DEVICES="7").stdout
        == "hipGetDeviceCount(&count): hipErrorNoDevice\n"
    )


@pytest.mark.parametrize(
    ("spec", "steps", "output"),
    [
        ("fault=no_device", (), "hipMalloc(&s.device, kBytes): hipErrorNoDevice\n"),
        ("fault=no_device", ("describe",), "hipGetDeviceCount(&count): hipErrorNoDevice\n"),
        ("fault=memory_full", (), "hipMalloc(&s.device, kBytes): hipErrorOutOfMemory\n"),
        ("fault=ecc", ("launch", "wait"), "hipDeviceSynchronize(): hipErrorECCNotCorrectable\n"),
        (
            "fault=off_the_bus,fault_launch=2",
            ("launch", "error", "launch", "error"),
            "hipSuccess\nhipErrorUnknown\n",
        ),
        ("fault=off_the_bus", ("launch", "wait"), "hipDeviceSynchronize(): hipErrorNoDevice\n"),
        ("fault=reset", ("launch", "wait"), "hipDeviceSynchronize(): hipErrorUnknown\n"),
    ],
)
def test_a_broken_device_returns_the_errors_of_hip(
    program: StubProgram, spec: str, steps: tuple[str, ...], output: str
) -> None:
    """Calls fail as they do with ROCm."""
    assert program.run(spec, *steps).stdout == output


def test_a_reset_ends_for_boxes_that_start_later(program: StubProgram) -> None:
    """The box `fault_box` and the next `reset_boxes` boxes fail; then the device works again."""
    spec = "fault=reset,fault_box=2,reset_boxes=1"
    outcomes = [program.run(spec, "launch", "wait").returncode for _ in range(4)]
    assert outcomes == [0, 1, 1, 0]


@pytest.mark.parametrize("steps", [("fault", "wait"), ("launch", "wait")])
def test_a_memory_fault_has_the_message_of_rocm(program: StubProgram, steps: tuple[str, ...]) -> None:
    """A wrong address in a kernel, or the fault of the model: the program is aborted."""
    result = program.run(
        "fault=memory_fault,fault_address=0x7f0000001234" if "launch" in steps else "", *steps
    )
    assert result.returncode == -6
    assert result.stderr.startswith("Memory access fault by GPU node-1 (Agent handle: 0x")
    assert result.stderr.endswith("000. Reason: Unknown.\n")
    assert ("0x7f0000001000" in result.stderr) == ("launch" in steps)


@pytest.mark.root
def test_a_memory_fault_ends_the_first_process_of_a_container(program: StubProgram) -> None:
    """Its own SIGABRT does not end such a process."""
    result = program.run("", "fault", "wait", prefix=("unshare", "--pid", "--fork"))
    assert result.returncode == 128 + 6
    assert result.stderr.count("Memory access fault by GPU") == 1
