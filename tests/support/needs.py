"""Leave out the tests whose needs this machine does not meet, and report which and why.

A pytest plugin. A test has a marker for each need (`docker`, `postgres`, …), or gets it from its fixtures or
its folder. Tests with an unmet need are deselected, and the summary names each need with its reason. With
WARMFRONT_TEST_REQUIRE_ALL=1, as in CI, an unmet need is an error instead.
"""

from __future__ import annotations

import functools
import os
import shutil
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support import issuer
from warmfront.sandbox.cgroup import find_hierarchy
from warmfront.settings import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

ROOT = Path(__file__).parents[2]
REQUIRE_ALL = "WARMFRONT_TEST_REQUIRE_ALL"
#: A port below this belongs to root; the fake cloud's SSH servers need 22.
SSH_PORT = 22


class Need(NamedTuple):
    """Something that a machine may lack."""

    name: str  #: as the summary calls it
    missing: Callable[[], str | None]  #: why it is not available, or None if it is
    fixtures: frozenset[str] = frozenset()  #: a test that uses one of these needs it
    parameters: frozenset[str] = frozenset()  #: so does a test with one of these parameters
    folders: tuple[str, ...] = ()  #: and every test below these
    only_slow: bool = False  #: whether only slow tests may need it, so that `make test` does not


def _no_root() -> str | None:
    return (
        None
        if os.geteuid() == 0
        else "these tests mount file systems or change users, and this user is not root"
    )


def _no_program(name: str, package: str) -> str | None:
    return None if shutil.which(name) else f"no {name} on PATH (apt-get install {package})"


def _no_docker() -> str | None:
    if os.geteuid() != 0:
        return "the tests start a Docker daemon of their own, and this user is not root"
    return _no_program("dockerd", "docker.io")


def _no_postgres() -> str | None:
    if any(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        return None
    return "no server in /usr/lib/postgresql (apt-get install postgresql)"


def _no_dstack() -> str | None:
    if not (ROOT / ".venv-dstack/bin/python").exists():
        return "no dstack server in .venv-dstack (scripts/setup dstack)"
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.254", SSH_PORT))
    except PermissionError:
        return f"the fake cloud's VMs listen on port {SSH_PORT}, and this user may not"
    except OSError:  # in use, so allowed
        pass
    return _no_program("ssh", "openssh-client")


def _no_issuer() -> str | None:
    return None if issuer.is_installed() else "not installed (scripts/page issuer)"


def _no_sandbox() -> str | None:
    if reason := _no_program("bwrap", "bubblewrap"):
        return reason
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    if os.geteuid() == 0 or subprocess.run(command, capture_output=True, check=False).returncode == 0:
        return None
    return "bubblewrap cannot make a user namespace here"


def _no_cgroup() -> str | None:
    if find_hierarchy():
        return None
    return "this user may not create one, and limits on address space are too coarse for these tests"


def _no_rocm() -> str | None:
    if all((default_cache_dir() / f"rocm-{version}").is_dir() for version in ("6.4", "7.2")):
        return _no_program("bwrap", "bubblewrap")
    return "no HIP compilers in the cache (make test-rocm fetches them; needs root)"


def _no_rocm_headers() -> str | None:
    if (default_cache_dir() / "rocm-headers").is_dir():
        return None
    return "no HIP headers in the cache (scripts/rocm-rootfs headers)"


NEEDS = {
    "root": Need("root", _no_root, frozenset({"small_disk"}), frozenset({"bubblewrap-privileged"})),
    "docker": Need("Docker", _no_docker, frozenset({"docker_url"}), frozenset({"docker"})),
    "postgres": Need("PostgreSQL", _no_postgres, frozenset({"postgres"}), frozenset({"postgresql"})),
    "browser": Need(
        "a browser", functools.partial(_no_program, "chromium", "chromium"), folders=("tests/browser",)
    ),
    "issuer": Need("an OpenID Connect issuer", _no_issuer, frozenset({"issuer"})),
    "dstack": Need("a dstack server", _no_dstack, folders=("tests/dstack",)),
    "prometheus": Need(
        "Prometheus", functools.partial(_no_program, "promtool", "prometheus"), only_slow=True
    ),
    "debootstrap": Need(
        "debootstrap", functools.partial(_no_program, "debootstrap", "debootstrap"), only_slow=True
    ),
    "rocm": Need("real HIP compilers", _no_rocm, only_slow=True),
    "rocm_headers": Need("real HIP headers", _no_rocm_headers),
    "compiler": Need("g++", functools.partial(_no_program, "g++", "g++")),
    "cgroup": Need("a control group", _no_cgroup, frozenset({"tight"})),
    "sandbox": Need(
        "a sandbox",
        _no_sandbox,
        frozenset({"judge", "box_maker"}),
        folders=(
            "tests/acceptance",
            "tests/browser",
            "tests/dstack",
            "tests/integration/cli",
            "tests/integration/hip/xray",
            "tests/integration/judge",
            "tests/integration/listener",
            "tests/integration/providers",
            "tests/integration/sandbox",
        ),
    ),
}


@functools.cache
def why_missing(marker: str) -> str | None:
    """Return why this machine does not meet a need, or None if it does."""
    return NEEDS[marker].missing()


def needs_of(item: pytest.Item) -> Iterator[str]:
    """Yield the markers of everything that a test needs."""
    fixtures = set(getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    path = item.path.relative_to(ROOT).as_posix()
    values = callspec.params.values() if callspec and not path.startswith("tests/unit") else ()
    parameters = {value for value in values if isinstance(value, str)}
    for marker, need in NEEDS.items():
        if (
            item.get_closest_marker(marker)
            or need.fixtures & fixtures
            or need.parameters & parameters
            or path.startswith(need.folders)
        ):
            yield marker


class LeftOut:
    """Deselects tests and counts them; with pytest-xdist the workers do, and the controller reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._counts: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """Mark each test with its needs, then deselect those with an unmet need that `-m` has selected."""
        for item in items:
            for marker in needs_of(item):
                if NEEDS[marker].only_slow and not item.get_closest_marker("slow"):
                    raise pytest.UsageError(
                        f"{item.nodeid} needs {NEEDS[marker].name}, so it must be marked slow"
                    )
                item.add_marker(marker)
        yield
        kept: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        for item in items:
            unmet = next(
                (marker for marker in NEEDS if item.get_closest_marker(marker) and why_missing(marker)), None
            )
            (kept if unmet is None else left_out).append(item)
            if unmet is not None:
                self._counts[unmet] += 1
        if left_out:
            items[:] = kept
            self._config.hook.pytest_deselected(items=left_out)

    def pytest_sessionfinish(self) -> None:
        """Send a worker's counts to the controller."""
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["left_out"] = dict(self._counts)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take a worker's counts; every worker collects the same tests."""
        self._counts = Counter(getattr(node, "workeroutput", {}).get("left_out", {})) or self._counts

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print which tests were left out, and why."""
        for marker, count in sorted(self._counts.items()):
            tests = "1 test that needs" if count == 1 else f"{count} tests that need"
            terminalreporter.write_line(f"left out: {tests} {NEEDS[marker].name}: {why_missing(marker)}")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin; fail at once if everything is required and something is missing."""
    if os.environ.get(REQUIRE_ALL) == "1":
        without_slow = config.getoption("markexpr") == "not slow"
        missing = [
            f"{need.name}: {why_missing(marker)}"
            for marker, need in NEEDS.items()
            if not (need.only_slow and without_slow) and why_missing(marker)
        ]
        if missing:
            raise pytest.UsageError(f"{REQUIRE_ALL}=1, and this machine lacks " + "; ".join(missing))
    config.pluginmanager.register(LeftOut(config), "warmfront-left-out")
