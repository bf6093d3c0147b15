"""`warmfront fleet` against a real dstack server with the simulated cloud behind it."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.dstack.harness import Stack

pytestmark = pytest.mark.slow

#: For a command that waits for dstack to end VMs.
PATIENCE_S = 180


@dataclass(frozen=True)
class Operator:
    """Someone who types commands, in a folder and with an environment of their own."""

    stack: Stack
    patch: pytest.MonkeyPatch
    name: str  #: of their fleet

    def types(self, *words: str, **environ: str) -> Result:
        """Type `warmfront fleet …` where there is no terminal."""
        with self.patch.context() as patch:
            for variable, value in (self._environ | environ).items():
                patch.setenv(variable, value)
            return CliRunner().invoke(app, ["fleet", *words])

    def gets(self, *words: str, **environ: str) -> Any:
        """The JSON of a command that works."""
        done = self.types(*words, "--json", **environ)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def answers(self, answer: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Type it at a terminal, where a question gets an answer; a process of its own."""
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
                timeout=PATIENCE_S,
            )
        finally:
            os.close(ours)
            os.close(theirs)

    def fleets(self) -> set[str]:
        """The names of the fleets that the server has, asked through dstack's own client."""
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


def test_a_dry_run_shows_the_plan_and_creates_nothing(operator: Operator) -> None:
    """The configuration, the offers with their price and the worst case of a day; and no fleet."""
    done = operator.types("create", "--dry-run", AMD_FLEET_MAX_NODES="3")
    assert done.exit_code == 0, done.stderr
    assert "nodes: 0..3" in done.stdout
    assert "1.99" in done.stdout
    assert "3 x $1.99 x 24 h = $143.28 a day" in done.stdout
    assert "nothing was created" in done.stdout
    assert not operator.fleets()
    assert operator.gets("create", AMD_FLEET_DRY_RUN="true")["created"] is False
    assert not operator.fleets()


def test_a_fleet_is_created_verified_listed_shown_and_deleted(operator: Operator) -> None:
    """What was made is what was asked for, and it is gone when `delete` returns."""
    made = operator.gets("create", "--yes", "--name", "whole-test", "--nodes", "2", "--idle-duration", "90s")
    assert made["created"] is True
    assert (made["fleet"]["status"], made["fleet"]["max_nodes"], made["fleet"]["idle_s"]) == ("active", 2, 90)
    same = {"AMD_FLEET_NAME": "whole-test", "AMD_FLEET_MAX_NODES": "2", "AMD_FLEET_IDLE_DURATION": "90s"}
    verified = operator.types("verify", **same)
    assert verified.exit_code == 0, verified.stderr
    assert "whole-test is active: nodes 0..2" in verified.stdout
    assert "which is normal" in verified.stdout
    assert [found["name"] for found in operator.gets("list")] == ["whole-test"]
    assert "whole-test" in operator.types("list").stdout
    assert operator.gets("show", "whole-test")["backends"] == ["amddevcloud"]
    assert "nodes 0..2" in operator.types("show", "whole-test").stdout
    assert operator.gets("create", **same)["created"] is False
    assert operator.gets("delete", "whole-test", "--yes") == {"name": "whole-test", "deleted": True}
    assert not operator.fleets()


def test_nobody_is_asked_where_there_is_no_terminal(operator: Operator) -> None:
    """Without --yes, and with nobody to answer, nothing is made, and the exit code is 2."""
    done = operator.types("create")
    assert done.exit_code == 2
    assert "not a terminal" in done.stderr
    assert "--yes" in done.stderr
    assert not operator.fleets()


def test_a_person_is_asked(operator: Operator) -> None:
    """Whoever answers n gets nothing; whoever answers y gets a fleet."""
    assert operator.answers("n", "create").returncode == 2
    assert not operator.fleets()
    done = operator.answers("y", "create", AMD_FLEET_NAME="asked-test")
    assert done.returncode == 0, done.stderr
    assert operator.fleets() == {"asked-test"}


def test_another_idle_duration_means_another_fleet(operator: Operator) -> None:
    """An idle duration cannot be changed: that is said, and --replace deletes and creates."""
    name = operator.name
    operator.gets("create", "--yes")
    refused = operator.types("create", "--yes", "--idle-duration", "5m")
    assert refused.exit_code == 2
    assert f"{name} exists and cannot be updated: idle_duration is 10m, not 5m" in refused.stderr
    assert "fleet delete" in refused.stderr
    assert operator.gets("show")["idle_s"] == 600
    assert operator.types("verify", AMD_FLEET_IDLE_DURATION="5m").exit_code == 2
    replaced = operator.gets("create", "--yes", "--replace", "--idle-duration", "5m")
    assert replaced["fleet"]["idle_s"] == 300


def test_more_nodes_change_the_fleet(operator: Operator) -> None:
    """What dstack can change is told by `verify` and changed by `create`."""
    operator.gets("create", "--yes")
    told = operator.types("verify", AMD_FLEET_MAX_NODES="4")
    assert (told.exit_code, "nodes is 0..1, not 0..4" in told.stderr) == (2, True)
    assert operator.gets("create", "--yes", "--nodes", "4")["fleet"]["max_nodes"] == 4
    assert operator.gets("verify", AMD_FLEET_MAX_NODES="4")["fleet"]["max_nodes"] == 4


@pytest.mark.parametrize(
    ("environ", "code", "message", "hint"),
    [
        ({"DSTACK_SERVER_URL": "http://127.0.0.1:9"}, 3, "No dstack server answers", "dstack server"),
        ({"DSTACK_TOKEN": "wrong"}, 2, "denies this token", "DSTACK_TOKEN"),
        ({"DSTACK_PROJECT": "nowhere"}, 2, "'nowhere'", "DSTACK_PROJECT"),
        ({"AMD_BACKEND": "vultr"}, 3, "no backend 'vultr'", "config.yml"),
        ({"AMD_GPU_TYPE": "MI999X"}, 3, "no offer", "AMD_GPU_TYPE"),
        ({"AMD_SPOT_POLICY": "spot"}, 3, "no offer", "AMD_SPOT_POLICY"),
        ({"AMD_MI300X_HOURLY_RATE": "1.00"}, 3, "from $1.99 an hour", "AMD_MI300X_HOURLY_RATE=1.99"),
    ],
)
def test_each_failure_ends_with_what_to_do(
    operator: Operator, environ: dict[str, str], code: int, message: str, hint: str
) -> None:
    """A server that is away, denies us, lacks the backend or the offer: said, with the next step."""
    done = operator.types("create", "--yes", **environ)
    assert done.exit_code == code, done.stdout + done.stderr
    assert message in done.stderr
    step = done.stderr.strip().splitlines()[-1]
    assert step.startswith("  → ")
    assert hint in step
    assert "Traceback" not in done.stderr
    assert not operator.fleets()


@pytest.mark.parametrize("command", [["verify"], ["show"], ["delete", "--yes"]])
def test_a_fleet_that_is_not_there(operator: Operator, command: list[str]) -> None:
    """Whoever deleted it: the name is told, and where the others are."""
    done = operator.types(*command, AMD_FLEET_NAME="gone-test")
    assert done.exit_code == 2
    assert "no fleet 'gone-test'" in done.stderr
    assert "warmfront fleet list" in done.stderr
