"""`warmfront fleet` against a real dstack server with the fake cloud behind it."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from tests.support.dstack_server import PROJECT
from warmfront.cli.app import app
from warmfront.settings import Settings
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.dstack.harness import Stack

pytestmark = pytest.mark.slow

#: Limit for a command that waits for dstack to end VMs.
TIMEOUT_S = 180


@dataclass(frozen=True)
class Operator:
    """An operator who runs commands in their own directory and environment."""

    stack: Stack
    patch: pytest.MonkeyPatch
    name: str  #: the fleet's name

    def run(self, *words: str, **environ: str) -> Result:
        """Run `warmfront fleet …` without a terminal."""
        with self.patch.context() as patch:
            for variable, value in (self._environ | environ).items():
                patch.setenv(variable, value)
            return CliRunner().invoke(app, ["fleet", *words])

    def run_json(self, *words: str, **environ: str) -> Any:
        """Run a command that succeeds, and return its JSON."""
        done = self.run(*words, "--json", **environ)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def run_in_terminal(self, answer: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a terminal and answer its question."""
        ours, theirs = pty.openpty()
        try:
            os.write(ours, f"{answer}\n".encode())
            return subprocess.run(
                [sys.executable, "-m", "warmfront", "fleet", *words],
                env={**os.environ, **self._environ, **environ},
                stdin=theirs,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
            )
        finally:
            os.close(ours)
            os.close(theirs)

    def fleets(self) -> set[str]:
        """Return the names of the server's fleets, listed by dstack's own client."""
        return {fleet.name for fleet in self.stack.client.client.fleets.list(PROJECT)}

    @property
    def _environ(self) -> dict[str, str]:
        return {
            "DSTACK_SERVER_URL": self.stack.server.url,
            "DSTACK_TOKEN": self.stack.server.token,
            "DSTACK_PROJECT": PROJECT,
            "AMD_FLEET_NAME": self.name,
        }


@pytest.fixture(name="operator")
def _operator(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operator]:
    monkeypatch.chdir(tmp_path)
    operator = Operator(stack, monkeypatch, "my-fleet")
    yield operator
    for name in operator.fleets():
        stack.delete_fleet(name)


def test_dry_run_shows_the_plan_and_creates_nothing(operator: Operator) -> None:
    """A dry run prints the configuration, the offers and the worst case per day."""
    done = operator.run("create", "--dry-run", AMD_FLEET_MAX_NODES="3")
    assert done.exit_code == 0, done.stderr
    assert 'nodes: "0..3"' in done.stdout
    assert "1.99" in done.stdout
    assert "3 x $1.99 x 24 h = $143.28 per day" in done.stdout
    assert "nothing was created" in done.stdout
    assert not operator.fleets()
    assert operator.run_json("create", AMD_FLEET_DRY_RUN="true")["created"] is False
    assert not operator.fleets()


def test_create_verify_list_show_and_delete(operator: Operator) -> None:
    """The fleet is created as requested, and no longer exists when `delete` returns."""
    created = operator.run_json(
        "create", "--yes", "--name", "whole-test", "--nodes", "2", "--idle-duration", "90s"
    )
    assert created["created"] is True
    assert (created["fleet"]["status"], created["fleet"]["max_nodes"], created["fleet"]["idle_s"]) == (
        "active",
        2,
        90,
    )
    same = {"AMD_FLEET_NAME": "whole-test", "AMD_FLEET_MAX_NODES": "2", "AMD_FLEET_IDLE_DURATION": "90s"}
    verified = operator.run("verify", **same)
    assert verified.exit_code == 0, verified.stderr
    assert "whole-test is active: nodes 0..2" in verified.stdout
    assert "which is normal" in verified.stdout
    assert [fleet["name"] for fleet in operator.run_json("list")] == ["whole-test"]
    assert "whole-test" in operator.run("list").stdout
    assert operator.run_json("show", "whole-test")["backends"] == ["amddevcloud"]
    assert "nodes 0..2" in operator.run("show", "whole-test").stdout
    assert operator.run_json("create", **same)["created"] is False
    assert operator.run_json("delete", "whole-test", "--yes") == {"name": "whole-test", "deleted": True}
    assert not operator.fleets()


def test_confirmation_requires_a_terminal(operator: Operator) -> None:
    """Without --yes and without a terminal, nothing is created, and the exit code is 2."""
    done = operator.run("create")
    assert done.exit_code == 2
    assert "not a terminal" in done.stderr
    assert "--yes" in done.stderr
    assert not operator.fleets()


def test_confirmation_in_a_terminal(operator: Operator) -> None:
    """The answer n creates nothing; the answer y creates the fleet."""
    assert operator.run_in_terminal("n", "create").returncode == 2
    assert not operator.fleets()
    done = operator.run_in_terminal("y", "create", AMD_FLEET_NAME="confirmed-test")
    assert done.returncode == 0, done.stderr
    assert operator.fleets() == {"confirmed-test"}


def test_idle_duration_cannot_be_changed(operator: Operator) -> None:
    """The error says that the fleet must be replaced, and --replace does it."""
    name = operator.name
    operator.run_json("create", "--yes")
    rejected = operator.run("create", "--yes", "--idle-duration", "5m")
    assert rejected.exit_code == 2
    assert f"{name} exists and cannot be updated: idle_duration is 10m, not 5m" in rejected.stderr
    assert "fleet delete" in rejected.stderr
    assert operator.run_json("show")["idle_s"] == 600
    assert operator.run("verify", AMD_FLEET_IDLE_DURATION="5m").exit_code == 2
    replaced = operator.run_json("create", "--yes", "--replace", "--idle-duration", "5m")
    assert replaced["fleet"]["idle_s"] == 300


def test_nodes_can_be_changed(operator: Operator) -> None:
    """`verify` reports a different number of nodes, and `create` changes it."""
    operator.run_json("create", "--yes")
    verified = operator.run("verify", AMD_FLEET_MAX_NODES="4")
    assert (verified.exit_code, "nodes is 0..1, not 0..4" in verified.stderr) == (2, True)
    assert operator.run_json("create", "--yes", "--nodes", "4")["fleet"]["max_nodes"] == 4
    assert operator.run_json("verify", AMD_FLEET_MAX_NODES="4")["fleet"]["max_nodes"] == 4


@pytest.mark.parametrize(
    ("environ", "code", "message", "hint"),
    [
        ({"DSTACK_SERVER_URL": "http://127.0.0.1:9"}, 3, "No dstack server responds", "dstack server"),
        ({"DSTACK_TOKEN": "wrong"}, 2, "denies this token", "DSTACK_TOKEN"),
        ({"DSTACK_PROJECT": "nowhere"}, 2, "'nowhere'", "DSTACK_PROJECT"),
        ({"AMD_BACKEND": "vultr"}, 3, "no backend 'vultr'", "config.yml"),
        ({"AMD_GPU_TYPE": "MI355X", "AMD_DEFAULT_GPU": "MI355X"}, 2, "no hourly rate", "AMD_GPU_TYPE"),
        ({"AMD_GPU_MEMORY": "999GB"}, 3, "no offer", "AMD_GPU_MEMORY"),
        ({"AMD_SPOT_POLICY": "spot"}, 3, "no offer", "AMD_SPOT_POLICY"),
        ({"AMD_MI300X_HOURLY_RATE": "1.00"}, 3, "from $1.99 per hour", "AMD_MI300X_HOURLY_RATE=1.99"),
    ],
)
def test_each_error_has_a_hint(
    operator: Operator, environ: dict[str, str], code: int, message: str, hint: str
) -> None:
    """The error states the cause and ends with the next step, and nothing is created."""
    done = operator.run("create", "--yes", **environ)
    assert done.exit_code == code, done.stdout + done.stderr
    assert message in done.stderr
    step = done.stderr.strip().splitlines()[-1]
    assert step.startswith("  → ")
    assert hint in step
    assert "Traceback" not in done.stderr
    assert not operator.fleets()


@pytest.mark.parametrize("command", [["verify"], ["show"], ["delete", "--yes"]])
def test_missing_fleet(operator: Operator, command: list[str]) -> None:
    """The error names the fleet and the command that lists the existing ones."""
    done = operator.run(*command, AMD_FLEET_NAME="gone-test")
    assert done.exit_code == 2
    assert "no fleet 'gone-test'" in done.stderr
    assert "warmfront fleet list" in done.stderr


def test_vms_of_other_services_are_foreign(operator: Operator, tmp_path: Path) -> None:
    """`show` names the owner of each VM, and `delete --yes` does not end those of others."""
    data_dir = {"WARMFRONT_DATA_DIR": str(tmp_path)}
    operator.run_json("create", "--yes", "--nodes", "2")
    operator.stack.run("wf-ffffeeee-vm-1", operator.name, "true")
    (unknown,) = operator.run_json("show", **data_dir)["instances"]
    assert unknown["owner"] == "service ffffeeee"

    async def make_owner_id() -> None:
        store = await open_store(Settings(data_dir=tmp_path))
        await store.owner_id("0a1b2c3d", 1.0)
        await store.close()

    asyncio.run(make_owner_id())
    shown = operator.run("show", **data_dir)
    assert "foreign: service ffffeeee" in shown.stdout
    refused = operator.run("delete", "--yes", **data_dir)
    assert (refused.exit_code != 0, "1 belong to other services" in refused.stderr) == (True, True)
    assert operator.fleets() == {operator.name}
