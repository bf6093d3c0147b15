"""Fixtures for the tests of sandboxes: every kind of sandbox, and the probe program that runs in them."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.sandbox.base import BoxExit, Mount, SandboxLimits, Template
from warmfront.sandbox.box import LOCK
from warmfront.sandbox.bubblewrap import Bubblewrap
from warmfront.sandbox.cgroup import find_hierarchy
from warmfront.sandbox.docker import OWNER_LABEL, Docker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.sandbox.box_pool import PooledSandbox

MIB = 1 << 20

LIMITS = SandboxLimits(
    memory_bytes=128 * MIB,
    cpus=1,
    pids=32,
    file_bytes=16 * MIB,
    open_files=64,
    output_bytes=64 * 1024,
    tmp_bytes=2 * MIB,
    cpu_s=60,
    wall_s=600,
)

#: `unprivileged`: `nobody` runs bubblewrap; `privileged`: root does; `rlimits`: without a cgroup.
KINDS = ("bubblewrap-unprivileged", "bubblewrap-privileged", "bubblewrap-rlimits", "docker")


@dataclass(frozen=True)
class SandboxHarness:
    """One sandbox, and a directory with the program to run in it."""

    kind: str
    sandbox: PooledSandbox
    programs: Path

    def probe(
        self, *words: str, may_fork: bool = False, outputs: tuple[str, ...] = (), **limits: float
    ) -> Template:
        """Return a template that runs the probe."""
        return self.template((f"{self.inside}/probe", *words), may_fork=may_fork, outputs=outputs, **limits)

    def shell(self, script: str, **limits: Any) -> Template:
        """Return a template that runs a shell script."""
        return self.template(("/bin/sh", "-c", script, self.inside), may_fork=True, **limits)

    def template(self, argv: tuple[str, ...], **options: Any) -> Template:
        """Return a template with these options; other keywords override the default limits."""
        known = {"may_fork", "outputs", "env", "devices"}
        limits = replace(self.limits, **{name: value for name, value in options.items() if name not in known})
        rest = {name: value for name, value in options.items() if name in known}
        mounts = (Mount(host=self.programs, inside=self.inside),)
        return Template(name="test", argv=argv, mounts=mounts, limits=limits, **rest)

    @property
    def limits(self) -> SandboxLimits:
        """The default limits; more processes without a cgroup, where threads of other tests count too."""
        return replace(LIMITS, pids=256) if self.kind == "bubblewrap-rlimits" else LIMITS

    @property
    def inside(self) -> str:
        """The directory of the program inside a box; unique, so that it identifies our processes."""
        return f"/programs-{self.sandbox.folders.owner}"

    def run(self, template: Template) -> BoxExit:
        """Run a box and return how it ended."""
        with self.sandbox.take(template) as box:
            box.go()
            return box.wait()

    def lines(self, template: Template) -> list[str]:
        """Run a program that must exit with code 0, and return the lines that it printed."""
        done = self.run(template)
        assert done.code == 0, done
        return done.output.decode().splitlines()

    def running(self) -> list[int]:
        """Return the host processes that run the probe."""
        return _processes(lambda command: command.startswith(f"{self.inside}/probe"))

    def leftovers(self) -> list[str]:
        """Return the folders, processes, cgroups and containers of this sandbox that still exist."""
        owner = self.sandbox.folders.owner
        names = [str(path) for path in (self.sandbox.folders.base / owner).glob("*") if path.name != LOCK]
        names += [f"process {pid}" for pid in _processes(lambda command: self.inside in command)]
        if hierarchy := find_hierarchy():
            names += hierarchy.names(owner)
        if isinstance(self.sandbox, Docker):
            names += containers_of(self.sandbox._api, owner)
        return names


@pytest.fixture(scope="module", params=KINDS)
def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SandboxHarness]:
    """Open each kind of sandbox."""
    # `nobody` cannot reach pytest's directories, so bubblewrap would have to be privileged for them.
    with tempfile.TemporaryDirectory() as directory:
        programs = Path(directory)
        programs.chmod(0o755)
        compile_probe(programs)
        with _open(request, tmp_path_factory) as sandbox:
            yield SandboxHarness(request.param, sandbox, programs)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check after every test that a new box works and that nothing is left of the others."""
    yield
    if "harness" in request.fixturenames:
        harness = request.getfixturevalue("harness")
        assert harness.run(harness.probe("exit", "7")).code == 7
        assert harness.leftovers() == []


def _open(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PooledSandbox:
    if request.param == "bubblewrap-privileged":
        return Bubblewrap(base=tmp_path_factory.mktemp("boxes"))
    if request.param == "bubblewrap-rlimits":
        return Bubblewrap(use_cgroup=False)
    if request.param == "docker":
        return Docker(url=request.getfixturevalue("docker_url"))
    return Bubblewrap()


def compile_probe(directory: Path) -> None:
    """Compile the probe."""
    source = Path(__file__).with_name("probe.c")
    subprocess.run(["gcc", "-O1", "-pthread", source, "-o", directory / "probe"], check=True)


def containers_of(api: Any, owner: str) -> list[str]:
    """Return the ids of the containers of a sandbox, running or not."""
    filters = {"label": f"{OWNER_LABEL}={owner}"}
    return [container["Id"] for container in api.containers(all=True, filters=filters)]


def _processes(matches: Callable[[str], bool]) -> list[int]:
    """Return the pids of all host processes whose command line matches."""
    pids = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text(errors="replace")
        except OSError:
            continue  # it has just ended
        if matches(command):
            pids.append(int(path.name))
    return pids
