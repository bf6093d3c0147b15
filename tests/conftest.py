"""Fixtures that several packages of tests use."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings as hypothesis_settings

from tests.support.databases import (
    bare_database,
    connection,
    database,
    postgres,
    postgresql_database,
    sqlite_database,
    sqlite_with_tables,
)
from tests.support.docker_daemon import docker_url
from warmfront import sandbox, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

# An example may take any time on a busy machine.
hypothesis_settings.register_profile("without deadline", deadline=None)
hypothesis_settings.load_profile("without deadline")

__all__ = [
    "bare_database",
    "connection",
    "database",
    "docker_url",
    "postgres",
    "postgresql_database",
    "sqlite_database",
    "sqlite_with_tables",
]

# A shell starts background jobs with SIGINT ignored, which the programs under test would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.support.needs"]

#: Low limits, so that tests of hostile code reach them soon.
TIGHT = {
    "AMD_CONTAINER_MEMORY_LIMIT": "768MB",
    "WARMFRONT_COMPILE_MEMORY_LIMIT": "512MB",
    "WARMFRONT_COMPILE_TIMEOUT": "8",
    "WARMFRONT_CASE_TIMEOUT": "3",
    "WARMFRONT_RUN_TIMEOUT": "60",
    "WARMFRONT_BENCH_BUDGET": "0.05",
    "WARMFRONT_PIDS_LIMIT": "64",
}


@pytest.fixture(scope="session", autouse=True)
def _data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the programs under test from creating a signing key in the user's own data directory."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("WARMFRONT_DATA_DIR", str(tmp_path_factory.mktemp("user-data")))
        yield


@pytest.fixture(scope="session", name="tight")
def _tight() -> Settings:
    return settings.load(TIGHT, env_file=None)


@pytest.fixture(scope="session", params=["bubblewrap", "docker"], name="box_maker")
def _box_maker(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    url = request.getfixturevalue("docker_url") if request.param == "docker" else None
    maker = sandbox.open_sandbox(request.param, url=url)
    yield maker
    maker.close()


@pytest.fixture(scope="session", name="judge")
def _judge(box_maker: Sandbox, tight: Settings) -> Judge:
    """Return a judge for each kind of sandbox, with low limits."""
    return Judge(CpuToolchain(tight.cache_dir), box_maker, tight)
