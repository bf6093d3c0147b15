"""The commands for the assignments of a team, against a real service with local VMs."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from tests.support.services import REHEARSAL, ROOT, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEADLINE = "2099-01-31T12:00Z"


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("state"), **REHEARSAL) as service:
        yield service


@pytest.fixture(scope="module", name="keys")
def _keys(service: Service) -> dict[str, str]:
    """Return the API keys of an operator and a member."""
    return {
        "olga": service.run("keys", "create", "--user", "olga", "--role", "operator").stdout.strip(),
        "ada": service.run("keys", "create", "--user", "ada", "--team", "class").stdout.strip(),
    }


def test_an_assignment_is_set_extended_and_exported(
    service: Service, keys: dict[str, str], tmp_path: Path
) -> None:
    """The id is printed alone, a prefix of it is accepted, and CSV and JSON have the same results."""
    olga, ada = ({"WARMFRONT_API_KEY": keys[name]} for name in ("olga", "ada"))
    set_ = ("teams", "assign", "class", "leaky-relu", "--deadline", DEADLINE, "--title", "Week 1")
    created = service.run(*set_, **olga)
    assert created.returncode == 0, created.stderr
    (assignment_id,) = created.stdout.split()
    assert "'Week 1' for the team class, until 2099-01-31T12:00:00Z" in created.stderr
    assert service.run(*set_, **olga).stdout == created.stdout  # it exists already
    example = ROOT / "examples" / "leaky_relu.hip"
    assert service.run("submit", example, "-p", "leaky-relu", **ada).returncode == 0
    listed = service.run("teams", "assignments", "class", **olga).stdout.splitlines()
    assert [line.split() for line in listed] == [
        ["ID", "PROBLEM", "DEADLINE", "STATE", "SOLVED", "BY", "TITLE"],
        [assignment_id, "leaky-relu", "2099-01-31T12:00:00Z", "open", "1", "of", "1", "Week", "1"],
    ]
    own = service.run("teams", "assignments", "class", **ada).stdout.splitlines()[1]
    assert own.split()[4:] == ["yes", "Week", "1"]
    prefix = assignment_id.removeprefix("asg_")[:20]
    changed = service.run("teams", "deadline", "class", prefix, "2098-01-31T12:00+02:00", "--json", **olga)
    assert json.loads(changed.stdout)["deadline_at"] == "2098-01-31T10:00:00.000Z", changed.stderr
    exported = service.run("teams", "results", "class", **olga)
    (row,) = csv.DictReader(io.StringIO(exported.stdout))
    assert (row["user"], row["solved"], row["deadline"]) == ("ada", "yes", "2098-01-31T10:00:00.000Z")
    file = tmp_path / "results.json"
    assert service.run("teams", "results", "class", "--json", "-o", file, **olga).stdout == ""
    (result,) = json.loads(file.read_text())
    assert (result["assignment_id"], result["user"], result["solved"]) == (assignment_id, "ada", True)
    assert f"{result['best_runtime_ms']}" == row["best_ms"]


@pytest.mark.parametrize(
    ("user", "words", "texts"),
    [
        ("olga", ("assign", "class", "relu", "--deadline", "soon"), ("--deadline is 'soon'", "T23:59Z")),
        ("olga", ("assign", "class", "relu", "--deadline", "2099-01-31T12:00"), ("time zone", "+01:00")),
        ("olga", ("assign", "class", "relu", "--deadline", "2020-01-31T12:00Z"), ("2020-01-31", "after 20")),
        ("olga", ("assign", "class", "nothing", "--deadline", DEADLINE), ("'nothing'", "leaky-relu")),
        ("olga", ("assign", "class", "relu"), ("--deadline",)),
        ("olga", ("assign", "no team", "relu", "--deadline", DEADLINE), ("TEAM is 'no team'",)),
        ("olga", ("assignments", "nobody"), ("'nobody'", "`warmfront teams list`")),
        ("olga", ("deadline", "class", "asg_none", DEADLINE), ("'asg_none'", "`warmfront teams assignments")),
        ("olga", ("deadline", "class", "asg_none", "later"), ("DEADLINE is 'later'",)),
        ("olga", ("results", "class", "--output", "/"), ("cannot be written to /", "--output")),
        ("ada", ("assign", "class", "relu", "--deadline", DEADLINE), ("a manager of the team",)),
        ("ada", ("results", "class", "--json"), ("a manager of the team", "Ask an admin")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_an_error_names_the_field_and_what_to_do(
    service: Service, keys: dict[str, str], user: str, words: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    """Every mistake has exit code 2."""
    failed = service.run("teams", *words, WARMFRONT_API_KEY=keys[user], COLUMNS="200")
    assert failed.returncode == 2
    shown = failed.stdout if "--json" in words else failed.stderr
    assert all(text in shown for text in texts), shown


def test_an_unreachable_service_is_an_infrastructure_error(tmp_path: Path) -> None:
    """The exit code is 3, with --json too."""
    stopped = Service(tmp_path)
    failed = stopped.run("teams", "results", "class", "--json")
    assert (failed.returncode, json.loads(failed.stdout)["code"]) == (3, "SERVER_UNREACHABLE")
