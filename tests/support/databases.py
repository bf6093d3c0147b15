"""Real databases for tests: SQLite files, and a private PostgreSQL server on loopback.

The server has its own directory and port, does not affect a server that the machine already runs, and is
ended by its process id. Each test has its own database, copied from a template that has the tables.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from warmfront.settings import Settings
from warmfront.store import migrate
from warmfront.store.database_backends import backend_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

#: Part of every database URL in tests; it must not appear in any message, log or file.
PASSWORD = "sesame-9f2c"  # noqa: S105 - a temporary server on loopback
KINDS = ("sqlite", "postgresql")
_TEMPLATE = "with_tables"
_START_TIMEOUT_S = 60
_STOP_TIMEOUT_S = 60


class PostgresServer:
    """A server that a test can stop and start again."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._bin = _binaries()
        self._become = _unprivileged(directory)
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self._initialize()

    def url(self, database: str) -> str:
        """Return the URL of a database, including the password."""
        return f"postgresql://warmfront:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it responds. It ends with the calling thread."""
        command = [*self._become, str(self._bin / "postgres"), "-D", str(self._directory / "data")]
        options = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self._directory,
            "fsync": "off",
            "shared_buffers": "16MB",
        }
        command += [f"--{name}={value}" for name, value in options.items()]
        with (self._directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self._wait(self._process)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server as an operator would: clients are disconnected."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_STOP_TIMEOUT_S)
            self._process = None

    def new_database(self, *, tables: bool, tablespace: str = "pg_default") -> str:
        """Create a database and return its URL."""
        name = f"test_{next(self._numbers)}"
        template = _TEMPLATE if tables else "template1"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} TABLESPACE {tablespace}")
        return self.url(name)

    def run(self, statement: str) -> None:
        """Execute a statement as the superuser, outside of any transaction."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def end_sessions(self, pattern: str) -> None:
        """End the sessions whose application name matches a pattern of LIKE."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            statement = (
                b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE %s"
            )
            connection.execute(statement, [pattern])

    def own(self, path: Path) -> None:
        """Make the server's user the owner of a file or directory."""
        if os.geteuid() == 0:  # otherwise the server runs as this user
            shutil.chown(path, _server_user())

    def _initialize(self) -> None:
        password_file = self._directory / "password"
        password_file.write_text(PASSWORD)
        self.own(password_file)
        command = [*self._become, str(self._bin / "initdb"), "-D", str(self._directory / "data"), "--no-sync"]
        command += ["--username=warmfront", f"--pwfile={password_file}", "--auth=scram-sha-256"]
        command += ["--encoding=UTF8", "--locale=C"]
        subprocess.run(command, check=True, capture_output=True)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        for _ in range(_START_TIMEOUT_S * 20):
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
                    break
            else:
                return
        raise RuntimeError(
            "PostgreSQL does not start here:\n" + (self._directory / "log").read_text()[-2000:]
        )


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Yield a running PostgreSQL server, one per test process."""
    with private_postgres() as server:
        yield server


@contextlib.contextmanager
def private_postgres() -> Iterator[PostgresServer]:
    """Yield a server that is not shared with other tests."""
    # The path of a socket is limited to about 100 characters, so pytest's directory is too long.
    with tempfile.TemporaryDirectory(prefix="wf-postgres-", ignore_cleanup_errors=True) as directory:
        server = PostgresServer(Path(directory))
        server.start()
        try:
            server.run(f"CREATE DATABASE {_TEMPLATE}")
            _make_tables(Settings(database_url=server.url(_TEMPLATE)))
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # immediate shutdown: the data is not needed


@pytest.fixture(scope="session")
def sqlite_with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with the tables, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "with_tables.db"
    _make_tables(Settings(database_url=f"sqlite:///{file}"))
    return file


@pytest.fixture
def sqlite_database(sqlite_with_tables: Path, tmp_path: Path) -> Settings:
    """Return settings with an empty SQLite database that has the tables."""
    shutil.copy(sqlite_with_tables, tmp_path / "warmfront.db")
    return Settings(data_dir=tmp_path)


@pytest.fixture
def postgresql_database(postgres: PostgresServer, tmp_path: Path) -> Settings:
    """Return settings with an empty PostgreSQL database that has the tables."""
    return Settings(data_dir=tmp_path, database_url=postgres.new_database(tables=True))


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest) -> Settings:
    """Return settings with an empty database of each kind that has the tables."""
    settings: Settings = request.getfixturevalue(f"{request.param}_database")
    return settings


@pytest.fixture(params=KINDS)
def bare_database(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return settings with a database of each kind that was never used."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        return Settings(data_dir=tmp_path, database_url=server.new_database(tables=False))
    return Settings(data_dir=tmp_path / "not" / "made" / "yet")


@pytest.fixture(name="conn")
def connection(database: Settings) -> Iterator[Connection]:
    """Yield a connection that can write."""
    engine = backend_of(database).writer()
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _make_tables(settings: Settings) -> None:
    backend = backend_of(settings)
    backend.prepare()
    engine = backend.writer()
    with engine.begin() as connection:
        migrate.upgrade(connection)
    engine.dispose()


def _binaries() -> Path:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not versions:
        raise RuntimeError("these tests start a PostgreSQL server: `apt-get install postgresql`")
    return versions[-1]


def _server_user() -> str:
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


def _unprivileged(directory: Path) -> list[str]:
    """Return a command prefix that runs PostgreSQL as an unprivileged user and ends it with this process."""
    become = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() != 0:
        return become
    user = pwd.getpwnam(_server_user())
    os.chown(directory, user.pw_uid, user.pw_gid)
    return [*become, "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
