"""What the tests of the sandboxes share: every way to make boxes, and the program that they run."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.sandbox.base import BoxExit, Mount, SandboxLimits, Template
from warmfront.sandbox.box_folders import LOCK
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
    wall_s=60,
)

#: `unprivileged` and `privileged`: who runs bubblewrap, nobody or root. `rlimits`: without a cgroup.
KINDS = ("bubblewrap-unprivileged", "bubblewrap-privileged", "bubblewrap-rlimits", "docker")


@dataclass(frozen=True)
class Lab:
    """One sandbox, with a directory of programs to run in it."""

    kind: str
    sandbox: PooledSandbox
    programs: Path

    def probe(
        self, *words: str, may_fork: bool = False, outputs: tuple[str, ...] = (), **limits: float
    ) -> Template:
        """A template that runs the probe."""
        return self.template((f"{self.inside}/probe", *words), may_fork=may_fork, outputs=outputs, **limits)

    def shell(self, script: str, **limits: float) -> Template:
        """A template that runs a shell."""
        return self.template(("/bin/sh", "-c", script, self.inside), may_fork=True, **limits)

    def template(self, argv: tuple[str, ...], **options: Any) -> Template:
        """A template with these options, and limits other than the usual."""
        known = {"may_fork", "outputs", "env"}
        limits = replace(self.limits, **{name: value for name, value in options.items() if name not in known})
        rest = {name: value for name, value in options.items() if name in known}
        mounts = (Mount(host=self.programs, inside=self.inside),)
        return Template(name="test", argv=argv, mounts=mounts, limits=limits, **rest)

    @property
    def limits(self) -> SandboxLimits:
        """The usual ones. Without a cgroup the kernel counts all threads of nobody, also of other tests."""
        return replace(LIMITS, pids=256) if self.kind == "bubblewrap-rlimits" else LIMITS

    @property
    def inside(self) -> str:
        """Where the programs are inside: a name by which every process of this lab is known."""
        return f"/programs-{self.sandbox.folders.owner}"

    def run(self, template: Template) -> BoxExit:
        """Run a box to its end."""
        with self.sandbox.take(template) as box:
            box.go()
            return box.wait()

    def says(self, template: Template) -> list[str]:
        """The lines that a program printed before it ended well."""
        done = self.run(template)
        assert done.code == 0, done
        return done.output.decode().splitlines()

    def running(self) -> list[int]:
        """Processes of the host that run the probe."""
        return _processes(lambda command: command.startswith(f"{self.inside}/probe"))

    def leftovers(self) -> list[str]:
        """Folders, processes, cgroups and containers of this sandbox that still exist."""
        owner = self.sandbox.folders.owner
        found = [str(path) for path in (self.sandbox.folders.base / owner).glob("*") if path.name != LOCK]
        found += [f"process {pid}" for pid in _processes(lambda command: self.inside in command)]
        if hierarchy := find_hierarchy():
            found += hierarchy.names(owner)
        if isinstance(self.sandbox, Docker):
            found += containers_of(self.sandbox._api, owner)
        return found


@pytest.fixture(scope="module", params=KINDS)
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Each way to make boxes."""
    # Nobody cannot reach pytest's own directories: that is what makes root do the mounts.
    with tempfile.TemporaryDirectory() as directory:
        programs = Path(directory)
        programs.chmod(0o755)
        compile_probe(programs)
        with _open(request, tmp_path_factory) as sandbox:
            yield Lab(request.param, sandbox, programs)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test a fresh box works, and nothing is left of any other."""
    yield
    if "lab" in request.fixturenames:
        one = request.getfixturevalue("lab")
        assert one.run(one.probe("exit", "7")).code == 7
        assert one.leftovers() == []


def _open(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PooledSandbox:
    if request.param == "bubblewrap-privileged":
        return Bubblewrap(base=tmp_path_factory.mktemp("boxes"))
    if request.param == "bubblewrap-rlimits":
        return Bubblewrap(use_cgroup=False)
    if request.param == "docker":
        return Docker(url=request.getfixturevalue("docker_url"))
    return Bubblewrap()


def compile_probe(directory: Path) -> None:
    """Build the program that tries things."""
    source = Path(__file__).with_name("probe.c")
    subprocess.run(["gcc", "-O1", "-pthread", source, "-o", directory / "probe"], check=True)


def containers_of(api: Any, owner: str) -> list[str]:
    """Containers of a sandbox, running or not."""
    filters = {"label": f"{OWNER_LABEL}={owner}"}
    return [container["Id"] for container in api.containers(all=True, filters=filters)]


def _processes(matches: Callable[[str], bool]) -> list[int]:
    """Processes of the whole host with such a command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text(errors="replace")
        except OSError:
            continue  # it ended while we looked
        if matches(command):
            found.append(int(path.name))
    return found
