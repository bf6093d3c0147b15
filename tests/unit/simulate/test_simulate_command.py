"""The `warmfront simulate` command: its table, its charts and its error messages."""

from __future__ import annotations

import asyncio
import json
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from warmfront import settings
from warmfront.cli.app import app
from warmfront.errors import BadRequest
from warmfront.simulate.arrival_traces import DAY_S, workday
from warmfront.simulate.recorded_arrivals import MAX_ARRIVALS, read_csv, to_trace_time
from warmfront.store import attempt_queries, event_queries, submission_queries
from warmfront.store.records import AttemptRecord
from warmfront.store.sql_database import open_store
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection
    from typer.testing import Result

SHORT = ("--trace", "workday", "--per-day", "20", "--days", "2")


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARMFRONT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["simulate", *arguments])


def rows_of(*arguments: str) -> list[dict[str, Any]]:
    """Return the rows of the command's JSON output."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return rows


def test_table_has_every_policy_and_the_optimum() -> None:
    """Each requested policy has a row; the last row is the optimum, which no policy beats."""
    rows = rows_of(*SHORT, "--policy", "fixed", "--policy", "at-once", "--policy", "fixed:1h")
    assert [row["policy"] for row in rows] == ["fixed 10 m", "release at once", "fixed 1 h", "best possible"]
    assert [row["computed"] for row in rows] == [False, False, False, True]
    assert all(row["of_the_best"] >= 1 for row in rows)
    assert len({row["tasks"] for row in rows}) == 1
    text = run(*SHORT, "--policy", "fixed").stdout
    assert "fixed 10 m" in text
    assert "best possible" in text
    assert "█" in text


def test_repeated_options_are_combined() -> None:
    """Every combination of VM counts, boot times, prices and billing models has a row."""
    rows = rows_of(
        *SHORT, "--policy", "fixed", "--boot", "60s", "--boot", "5m", "--price", "1.99", "--price", "$3"
    )
    assert [(row["boot_s"], row["rate_usd_per_h"]) for row in rows if not row["computed"]] == [
        (60.0, 1.99),
        (60.0, 3.0),
        (300.0, 1.99),
        (300.0, 3.0),
    ]
    billed = rows_of(*SHORT, "--policy", "at-once", "--billing", "second", "--billing", "hour")
    by_the_second, by_the_hour = (row for row in billed if not row["computed"])
    assert by_the_hour["usd"] > by_the_second["usd"]
    assert by_the_hour["usd"] * 100 % 199 == pytest.approx(0, abs=1e-6)  # whole hours of $1.99


def test_charts_are_svg_for_light_and_dark_pages(tmp_path: Path) -> None:
    """Both charts are well-formed, have colors for a dark page, and are reproducible."""
    assert run(*SHORT, "--plot", "a.svg", "--lanes", "b.svg", "--day", "2").exit_code == 0
    for name in ("a.svg", "b.svg"):
        text = (tmp_path / name).read_text()
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - we wrote it
        assert "prefers-color-scheme: dark" in text
        assert "best possible" in text or "kept warm" in text
    again = (tmp_path / "a.svg").read_bytes()
    assert run(*SHORT, "--plot", "a.svg").exit_code == 0
    assert (tmp_path / "a.svg").read_bytes() == again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Exactly one source"),
        ((*SHORT, "--from-history"), "Exactly one source"),
        (("--from-history",), "no submission that needed a VM"),
        (("--trace", "sinus"), "There is no trace 'sinus'"),
        (("--trace", "poisson", "--per-day", "0"), "--per-day is 0"),
        (("--trace", "poisson", "--per-day", "nan"), "--per-day is nan"),
        (("--trace", "poisson", "--days", "-1"), "--days is -1"),
        (("--trace", "poisson", "--per-day", "10000", "--days", "100"), "more than 200,000 arrivals"),
        ((*SHORT, "--price", "-1.99"), "--price is '-1.99'"),
        ((*SHORT, "--price", "0"), "--price is '0'"),
        ((*SHORT, "--wait-value", "-5"), "--wait-value is '-5'"),
        ((*SHORT, "--wait-value", "1e12"), "--wait-value is '1e12'"),
        ((*SHORT, "--wait-value", "nan"), "--wait-value is 'nan'"),
        ((*SHORT, "--policy", "clever"), "--policy is 'clever'"),
        ((*SHORT, "--policy", "fixed:soon"), "--policy is 'fixed:soon'"),
        ((*SHORT, "--billing", "week"), "--billing is 'week'"),
        ((*SHORT, "--boot", "-3"), "--boot is '-3'"),
        ((*SHORT, "--max-vms", "0"), "--max-vms is '0'"),
        ((*SHORT, *(("--boot", "60") * 50)), "100 combinations"),
        ((*SHORT, "--plot", "no/such/folder.svg"), "cannot be written"),
        (("missing.csv",), "cannot be read"),
    ],
)
def test_an_invalid_option_is_rejected(arguments: tuple[str, ...], message: str) -> None:
    """The message names the option and its value, and the exit code is 2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_without_a_wait_value_the_total_is_the_vm_cost() -> None:
    """With --wait-value 0, waiting adds nothing to the total."""
    rows = rows_of(*SHORT, "--policy", "fixed", "--wait-value", "0")
    assert all(row["cost_usd"] == pytest.approx(row["usd"]) for row in rows)


def test_bad_row_of_a_csv_is_named_by_its_line(tmp_path: Path) -> None:
    """A header and blank lines are skipped; a row without a time is rejected with its line number."""
    file = tmp_path / "log.csv"
    file.write_text("id,created_at\na,2031-05-17T09:30:00Z\n\nb,2031-05-17 09:31\nc,soon\n")
    with pytest.raises(BadRequest, match=r"line 5: 'soon' is not a time"):
        read_csv(file)
    for bad in ("nan", "inf", "-5", "1e300", ""):
        file.write_text(f"10\n{bad},x\n")
        with pytest.raises(BadRequest, match="line 2"):
            read_csv(file)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"created_at\n", b"\xff\xfe\x00\x01"])
def test_csv_without_arrivals_is_rejected(tmp_path: Path, content: bytes) -> None:
    """An empty file, a header alone and a binary file are rejected."""
    file = tmp_path / "log.csv"
    file.write_bytes(content)
    with pytest.raises(BadRequest, match=r"has no arrivals|is not a CSV file"):
        read_csv(file)


def test_csv_with_too_many_arrivals_is_rejected(tmp_path: Path) -> None:
    """The message states the maximum number of arrivals."""
    file = tmp_path / "log.csv"
    file.write_text("\n".join(map(str, range(1_000_000))))
    with pytest.raises(BadRequest, match=f"{MAX_ARRIVALS:,}"):
        read_csv(file)


def test_unsorted_and_repeated_arrivals_are_noted(tmp_path: Path) -> None:
    """Arrivals are sorted, and equal times count as separate submissions; a note says both."""
    (tmp_path / "log.csv").write_text("500\n10\n10\n")
    result = run("log.csv", "--policy", "fixed")
    assert result.exit_code == 0
    assert "sorted" in result.stderr
    assert "a separate submission" in result.stderr
    assert "3 submissions" in result.stdout


def test_one_arrival_is_enough(tmp_path: Path) -> None:
    """One arrival costs a boot, a submission and an idle time."""
    (tmp_path / "log.csv").write_text("2031-05-17T09:30:00+02:00\n")
    fixed, optimum = rows_of("log.csv", "--policy", "fixed")
    assert fixed["usd"] == pytest.approx(1.99 * (450 + 30 + 600) / 3600)
    assert optimum["usd"] == pytest.approx(1.99 * (450 + 30) / 3600)


def test_dates_keep_their_weekday_and_hour() -> None:
    """A Wednesday at nine in the log is a Wednesday at nine in the trace."""
    wednesday = datetime(2031, 5, 14, 9, tzinfo=UTC).timestamp()
    assert to_trace_time([wednesday]).at_s.tolist() == [2 * DAY_S + 9 * 3600]
    with pytest.raises(BadRequest, match="span"):
        to_trace_time([1.0, 1.9e9])


def test_csv_and_trace_agree(tmp_path: Path) -> None:
    """A trace costs the same after it was written to a file and read back."""
    arrivals = workday(20, 2, 1)
    np.savetxt(tmp_path / "log.csv", arrivals, fmt="%.9f")
    read, generated = rows_of("log.csv", "--policy", "fixed"), rows_of(*SHORT, "--policy", "fixed")
    assert [round(row["usd"], 2) for row in read] == [round(row["usd"], 2) for row in generated]


def test_history_comes_from_the_database() -> None:
    """Submissions that needed a VM are replayed; the others are not."""
    asyncio.run(_fill())
    result = run("--from-history", "--policy", "fixed", "--json")
    assert json.loads(result.stdout)["arrivals"]["tasks"] == 2


async def _fill() -> None:
    store = await open_store(settings.load(), exclusive=False)
    for number in range(3):
        await store.database.write(_add_submission, number, has_attempt=number > 0)
    await store.close()


def _add_submission(conn: Connection, number: int, *, has_attempt: bool) -> None:
    new = NewSubmission(
        id=f"s{number}",
        owner="ann",
        problem="relu",
        gpu="MI300X",
        dtype="float32",
        language="hip",
        endpoint="checker",
        file_name="k.hip",
        code="//",
        created_at=1_800_000_000.0 + 100 * number,
    )
    submission_queries.create(conn, new, {"status": "IN_QUEUE"})
    event_queries.admit(conn, new.id, {"status": "XRAY"}, new.created_at)
    if has_attempt:
        attempt = AttemptRecord(
            id=f"a{number}", submission_id=new.id, vm_id="vm", number=1, started_at=new.created_at
        )
        assert attempt_queries.begin(conn, attempt, {"status": "VM_READY"}, cold=False)
