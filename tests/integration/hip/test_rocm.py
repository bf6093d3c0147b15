"""Tests of the `rocm` toolchain with a fake hipcc that records its calls and compiles for the CPU runtime."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from warmfront import gpus, sandbox, settings
from warmfront.errors import NoToolchain
from warmfront.hip import cpu
from warmfront.hip.device_facts import DeviceFacts
from warmfront.hip.headers import copy_headers
from warmfront.hip.rocm import RocmToolchain, device_files, pinning_environ
from warmfront.hip.rocm_installation import find_hipcc
from warmfront.hip.toolchain import open_toolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Case, Dtype, Scale
from warmfront.problems.vector_addition import VectorAddition
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.compiler

FAKE_HIPCC = """#!/bin/sh
# Accepts the arguments of hipcc, passes on those that g++ understands, and links the CPU runtime.
prefix=$(cd "$(dirname "$0")/.." && pwd)
[ "$1" = --version ] && echo "HIP version: 6.4.2 (fake)" && exit 0
echo "hipcc $*" >> "$prefix/calls" 2>/dev/null
runtime="$prefix/lib/*.o"
arguments=""
for word; do
  case "$word" in
    --offload-arch=*|-x|hip) ;;
    -shared) runtime=""; arguments="$arguments $word" ;;
    *) arguments="$arguments $word" ;;
  esac
done
exec g++ @FLAGS@ -I "$prefix/include" -x c++ $arguments -x none $runtime
"""

KERNEL = """
#include <hip/hip_runtime.h>
__global__ void add(const float* a, const float* b, float* c, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  hipLaunchKernelGGL(add, dim3((n + 255) / 256), dim3(256), 0, 0, d_input1, d_input2, d_output, n);
}
"""


class SmallAddition(VectorAddition):
    """Vector addition with GPU cases that are small enough for the CPU."""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return a few of the CPU's cases, whatever the scale."""
        del scale
        return [*super().cases(Scale.CPU)[:3], super().cases(Scale.CPU)[-1]]


@pytest.fixture(scope="module", name="prefix")
def _prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation that looks like ROCm."""
    prefix = tmp_path_factory.mktemp("rocm")
    prefix.chmod(0o755)  # the sandbox reads it as an unprivileged user
    (prefix / "bin").mkdir()
    (prefix / "lib").mkdir()
    (prefix / "calls").touch()
    include = prefix / "include"
    copy_headers(cpu.INCLUDE, include)
    for source in cpu.RUNTIME_SOURCES:
        target = prefix / "lib" / f"{source.stem}.o"
        command = [
            "g++",
            *cpu.RUNTIME_FLAGS,
            "-I",
            str(prefix / "include"),
            "-c",
            str(source),
            "-o",
            str(target),
        ]
        subprocess.run(command, check=True)
    (prefix / "bin" / "hipcc").write_text(FAKE_HIPCC.replace("@FLAGS@", " ".join(cpu.SUBMISSION_FLAGS)))
    (prefix / "bin" / "hipcc").chmod(0o755)
    return prefix


@pytest.fixture(name="judge_with_rocm")
def _judge_with_rocm(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    monkeypatch.setenv("PATH", f"{prefix}/bin:{os.environ['PATH']}")
    cache = prefix.with_name(f"{prefix.name}-cache")  # shared: our own programs take a while to compile
    configured = settings.load({"WARMFRONT_CACHE_DIR": str(cache)}, env_file=None)
    maker = sandbox.open_sandbox("bubblewrap")
    yield Judge(RocmToolchain(configured.cache_dir), maker, configured)
    maker.close()


def _submission(endpoint: Endpoint, source: str = KERNEL) -> JudgeRequest:
    return JudgeRequest(source=source, problem=SmallAddition(), dtype=Dtype.FLOAT32, endpoint=endpoint)


def test_accepts_a_kernel_compiled_by_hipcc(judge_with_rocm: Judge, prefix: Path) -> None:
    """The guest and the kernel are built by hipcc for gfx942, and the result is not simulated."""
    events = [event.fields() for event in judge_with_rocm.judge(_submission(Endpoint.SUBMIT))]
    assert events[-1]["status"] == "ACCEPTED", events[-1]
    assert events[-1]["simulated"] is False
    assert events[0]["compiler"] == "HIP version: 6.4.2 (fake)"
    machine = events[-1]["receipt"]["machine"]
    assert (machine["gpu"], machine["gpu_arch"], machine["compute_units"]) == ("MI300X", "gfx942", 304)
    assert machine["gpu_memory_bytes"] == 192 << 30, "by the device, not by the catalog"
    assert machine["hip_runtime"].startswith("6.4.")
    calls = (prefix / "calls").read_text()
    assert "--offload-arch=gfx942" in calls
    assert "guest.cpp" in calls


def test_reports_hipcc_errors_at_the_authors_lines(judge_with_rocm: Judge) -> None:
    """Line numbers refer to the author's source, although the compiled file has a prologue."""
    broken = KERNEL.replace("c[i] = a[i] + b[i];", "c[i] = a[i] + nothing[i];")
    last = list(judge_with_rocm.judge(_submission(Endpoint.CHECKER, broken)))[-1].fields()
    assert last["status"] == "COMPILE_ERROR"
    assert [diagnostic["line"] for diagnostic in last["details"]["diagnostics"]] == [5]


def test_the_compile_box_runs_hipcc_for_the_architecture(judge_with_rocm: Judge) -> None:
    """The sandbox runs one hipcc command for the architecture of the GPU."""
    configured = settings.load({}, env_file=None)
    template = RocmToolchain(configured.cache_dir, gpu=gpus.MI210).compile_template(configured)
    assert "hipcc --offload-arch=gfx90a" in template.argv[-1]
    assert "-shared" in template.argv[-1]


def test_a_box_gets_the_render_node_of_its_device_only(tmp_path: Path) -> None:
    """Nodes of other GPUs and of displays are not passed; without device facts, all render nodes are."""
    for name in ("kfd", "renderD128", "renderD129", "card0"):
        (tmp_path / name).touch()
    paths = {"kfd": tmp_path / "kfd", "render_nodes": tmp_path}
    own = DeviceFacts(arch="gfx942", render_minor=129, unique_id=0xDEADBEEF)
    assert device_files(own, **paths) == (f"{tmp_path}/kfd", f"{tmp_path}/renderD129")
    every = (f"{tmp_path}/kfd", f"{tmp_path}/renderD128", f"{tmp_path}/renderD129")
    assert device_files(None, **paths) == every
    assert pinning_environ(own) == {"ROCR_VISIBLE_DEVICES": "GPU-00000000deadbeef"}
    assert pinning_environ(None) == {}


def test_without_hipcc_the_hint_names_the_cpu_toolchain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If hipcc is not on PATH, the hint names the CPU toolchain."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoToolchain) as caught:
        RocmToolchain(tmp_path)
    assert "use the cpu toolchain" in (caught.value.hint or "")


#: A replacement for librocjitsu.so: without its configuration, or with a device file, it ends the program.
EMULATOR = """
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
__attribute__((constructor)) static void start() {
  std::string path, content;
  std::ifstream handoff(std::string(getenv("ROCJITSU_RUNTIME_DIR")) + "/config_path");
  if (!std::getline(handoff, path)) _exit(91);
  std::ifstream config(path);
  if (!std::getline(config, content) || content.find("gfx942") == std::string::npos) _exit(92);
  if (access("/dev/kfd", F_OK) == 0) _exit(93);
  setenv("EMULATED", "1", 1);
}
"""
#: Linked into our programs: like a HIP runtime without a driver, it fails unless the emulator is loaded.
DRIVER = """
#include <cstdlib>
#include <unistd.h>
__attribute__((constructor)) static void need_driver() { if (!getenv("EMULATED")) _exit(94); }
"""


def test_the_emulator_is_preloaded_instead_of_a_gpu(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With WARMFRONT_DEVICE=rocjitsu every program finds the emulator; results are simulated."""
    tmp_path.chmod(0o755)
    rocm = tmp_path / "rocm"
    shutil.copytree(prefix, rocm)
    (tmp_path / "driver.cpp").write_text(DRIVER)
    (tmp_path / "emulator.cpp").write_text(EMULATOR)
    library = rocm / "lib" / "librocjitsu.so"
    subprocess.run(["g++", "-c", tmp_path / "driver.cpp", "-o", rocm / "lib" / "driver.o"], check=True)
    subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "emulator.cpp", "-o", library], check=True)
    configs = rocm / "share" / "rocjitsu" / "configs"
    configs.mkdir(parents=True)
    (configs / "gfx942_cdna3_kmd.json").write_text('{"arch": "gfx942"}')
    monkeypatch.setenv("PATH", f"{rocm}/bin:{os.environ['PATH']}")
    variables = {
        "WARMFRONT_CACHE_DIR": str(tmp_path / "cache"),
        "WARMFRONT_DEVICE": "rocjitsu",
        "WARMFRONT_ROCJITSU": str(rocm),
    }
    configured = settings.load(variables, env_file=None)
    toolchain = open_toolchain(None, configured)
    with sandbox.open_sandbox("bubblewrap") as maker:  # type: ignore[attr-defined]  # every sandbox can be closed so
        verdict = list(Judge(toolchain, maker, configured).judge(_submission(Endpoint.SUBMIT)))[-1].fields()
    assert verdict["status"] == "ACCEPTED", verdict
    assert verdict["simulated"] is True
    assert verdict["receipt"]["toolchain"] == "rocjitsu"


def test_finds_amdclang_where_hipconfig_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hipcc, amdclang++ is used, with the flags that hipcc would add."""
    clang = tmp_path / "rocm" / "lib" / "llvm" / "bin" / "amdclang++"
    hipconfig = tmp_path / "bin" / "hipconfig"
    for program, text in ((clang, ""), (hipconfig, f"echo {tmp_path}/rocm")):
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/bin")
    assert find_hipcc() == str(clang)
    template = RocmToolchain(tmp_path).compile_template(settings.load({}, env_file=None))
    assert "amdclang++ --offload-arch=gfx942 --hip-link -D__HIP_PLATFORM_AMD__=1" in template.argv[-1]
    assert [mount.host for mount in template.mounts] == [tmp_path / "rocm"]
