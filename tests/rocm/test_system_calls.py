"""The real HIP runtime against the system calls that a box with a GPU may use."""

from __future__ import annotations

import errno
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

from tests.support import real_hip
from tests.support.real_hip import CORPUS, VERSIONS
from warmfront.sandbox import seccomp

pytestmark = [pytest.mark.slow, pytest.mark.rocm, pytest.mark.compiler, pytest.mark.sandbox]

#: The libraries of the runtime. The compiler in libamd_comgr is not used by a program that is compiled.
LIBRARIES = ("libamdhip64.so", "libhsa-runtime64.so.1", "libdrm.so.2", "libdrm_amdgpu.so.1", "libnuma.so.1")
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
#: Functions that the libraries import and that a box refuses on purpose.
REFUSED = {
    # IPC through sockets; we select the driver's IPC instead (HSA_ENABLE_IPC_MODE_LEGACY).
    *("accept", "bind", "connect", "listen", "recvfrom", "recvmsg", "sendmsg", "sendto", "setsockopt"),
    "socket",
    # Core dumps that are piped to a program, and compilers: a guest starts no program.
    *("fork", "vfork"),
    # libnuma imports it for programs that move other processes.
    "migrate_pages",
}
#: The system calls behind wrappers of glibc that have another name or no system call with their name.
ALIASES = {"eventfd": "eventfd2", "sendfile64": "sendfile"}
#: A machine with one CPU node, as the driver presents it.
TOPOLOGY = {
    "generation_id": "1\n",
    "system_properties": "platform_oem 0\nplatform_id 0\nplatform_rev 0\n",
    "nodes/0/gpu_id": "0\n",
    "nodes/0/name": "\n",
    "nodes/0/properties": "cpu_cores_count 2\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\n"
    "io_links_count 0\np2p_links_count 0\nmax_engine_clk_ccompute 3000\n",
    "nodes/0/mem_banks/0/properties": "heap_type 0\nsize_in_bytes 8000000000\nflags 0\nwidth 64\n",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_runtime_starts_without_a_refused_call(version: str, tmp_path: Path) -> None:
    """With a filter that kills where a box returns EPERM, it opens /dev/kfd and reads the topology."""
    runtime = CORPUS / "runtime"
    _compile(runtime / "start.c", tmp_path / "start")
    _compile(runtime / "fake_kfd.c", tmp_path / "fake_kfd.so", "-shared", "-fPIC")
    for name, text in TOPOLOGY.items():
        path = tmp_path / "topology" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = _run_in_box(version, tmp_path)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.splitlines() == [
        "hipInit: hipErrorNoDevice",
        "hipGetDeviceCount: hipErrorNoDevice",
        "hipHostMalloc: hipErrorNoDevice",
    ]
    requests = {line.removeprefix("kfd ") for line in done.stderr.splitlines()}
    assert {"01", "14", "25"} <= requests, "it did not get as far as the apertures of the process"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_libraries_import_is_allowed(version: str) -> None:
    """Every system call that a library of the runtime imports by name is allowed, or refused for a reason."""
    names = set(re.findall(r"^#define __NR_(\w+) ", NUMBERS.read_text(), re.MULTILINE))
    allowed = {
        name for allowance in seccomp.allowances(may_fork=False, has_devices=True) for name in allowance.calls
    }
    imported = {ALIASES.get(name, name) for library in LIBRARIES for name in _imports(version, library)}
    used = {name if name in names else name.removesuffix("64") for name in imported} & names
    assert len(used) > 20
    assert used - allowed <= REFUSED


def _imports(version: str, library: str) -> set[str]:
    path = real_hip.rootfs(version) / "usr/lib/x86_64-linux-gnu" / library
    listed = subprocess.run(
        ["readelf", "--wide", "--dyn-syms", path], capture_output=True, text=True, check=True
    )
    return set(re.findall(r" UND (\w+)", listed.stdout))


def _compile(source: Path, output: Path, *options: str) -> None:
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", *options, source, "-o", output, "-ldl"], check=True)


def _run_in_box(version: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a root file system with ROCm; /dev/kfd is there, and refuses every request."""
    system = real_hip.rootfs(version)
    command = ["bwrap", "--proc", "/proc", "--dev", "/dev", "--dev-bind", "/dev/null", "/dev/kfd"]
    for name in ("usr", "etc"):
        command += ["--ro-bind", str(system / name), f"/{name}"]
    for name in ("bin", "lib", "lib64"):
        command += ["--symlink", f"usr/{name}", f"/{name}"]
    command += ["--ro-bind", str(folder), "/box", "--tmpfs", "/tmp", "--unshare-net"]  # noqa: S108 - in the box
    command += ["--ro-bind", str(folder / "topology"), "/sys/devices/virtual/kfd/kfd/topology"]
    descriptor = _killing_filter()
    command += ["--seccomp", str(descriptor), "--setenv", "LD_PRELOAD", "/box/fake_kfd.so"]
    command += ["--", "/box/start", LIBRARIES[0]]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=(descriptor,))
    finally:
        os.close(descriptor)


def _killing_filter() -> int:
    """Return a descriptor of the filter of a box with a GPU, which kills where that returns EPERM."""
    program = seccomp.bpf(seccomp.host_architecture(), may_fork=False, has_devices=True)
    refuse = struct.pack("=HBBI", seccomp.RETURN, 0, 0, seccomp.ERRNO | errno.EPERM)
    kill = struct.pack("=HBBI", seccomp.RETURN, 0, 0, seccomp.KILL_PROCESS)
    instructions = (program[at : at + len(refuse)] for at in range(0, len(program), len(refuse)))
    descriptor = os.memfd_create("filter")
    os.write(descriptor, b"".join(kill if code == refuse else code for code in instructions))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
