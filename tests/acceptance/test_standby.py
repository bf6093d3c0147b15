"""A standby on the same PostgreSQL database answers reads, and takes over when the active service ends."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as parse_metrics

from tests.support.services import EXAMPLE, PROMPT_S, Service, statuses
from tests.support.standby_pair import kill_with_submissions, standby_pair

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.databases import PostgresServer

FAST = {"WARMFRONT_BUG_FINDER": "false", "AMD_VM_MAX_CONCURRENT": "2"}
SUBMISSION = {"solution_code": EXAMPLE, "problem": "leaky-relu", "endpoint": "checker"}


@pytest.mark.slow
def test_kill_of_the_active_service_with_fifty_submissions_in_flight(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    """After `kill -9` there are fifty verdicts, and every event arrives exactly once."""
    with standby_pair(tmp_path, postgres.new_database(tables=False), **FAST) as pair:
        takeover = kill_with_submissions(pair, 50)
        print(f"takeover: {takeover.accepting_s:.2f} s; first event after {takeover.streaming_s:.2f} s")
        assert takeover.in_flight > 0
        assert len(takeover.events) == 50
        for events in takeover.events.values():
            assert [event.id for event in events] == list(range(1, len(events) + 1))
            assert events[-1].status == "CHECKED"
        page = pair.standby.get("submissions", limit=100)
        assert sorted(item["id"] for item in page["items"]) == sorted(takeover.events)


def test_a_standby_answers_reads_and_takes_over(tmp_path: Path, postgres: PostgresServer) -> None:
    """It shows history and live events, answers changes with 503, and continues after the other one's end."""
    with standby_pair(tmp_path, postgres.new_database(tables=False), **FAST) as pair:
        assert (pair.state_of(pair.active), pair.state_of(pair.standby)) == ("active", "standby")
        submission_id = pair.active.submit(endpoint="checker")
        events = pair.standby.events(submission_id)  # live, stored by the active service
        assert statuses(events)[-1] == "CHECKED"
        assert [event["id"] for event in events] == list(range(1, len(events) + 1))
        assert pair.standby.get("submissions")["items"][0]["id"] == submission_id

        rejected = httpx.post(f"{pair.standby.url}/api/amd/submit", json=SUBMISSION, timeout=PROMPT_S)
        assert (rejected.status_code, rejected.json()["code"]) == (503, "ON_STANDBY")
        assert int(rejected.headers["Retry-After"]) > 0
        ready = httpx.get(f"{pair.standby.url}/ready", timeout=PROMPT_S)
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert [_active_metric(service) for service in (pair.active, pair.standby)] == [1.0, 0.0]

        takeover = kill_with_submissions(pair, 2)
        assert {events[-1].status for events in takeover.events.values()} == {"CHECKED"}
        assert pair.standby.judged(endpoint="checker")[-1]["status"] == "CHECKED"
        assert httpx.get(f"{pair.standby.url}/ready", timeout=PROMPT_S).status_code == 200

        pair.active.start()  # the killed service is the standby of the other one now
        assert pair.state_of(pair.active) == "standby"
        assert pair.active.get("submissions")["items"]


def _active_metric(service: Service) -> float:
    """Return the metrics of a service, as Prometheus reads them."""
    text = httpx.get(f"{service.url}/metrics", timeout=PROMPT_S).text
    samples = {sample.name: sample.value for family in parse_metrics(text) for sample in family.samples}
    return samples["warmfront_active"]


def test_a_superseded_service_exits_and_ends_no_vm(tmp_path: Path, postgres: PostgresServer) -> None:
    """A service that was suspended and lost its lock exits when it continues; its VMs stay alive."""
    with standby_pair(tmp_path, postgres.new_database(tables=False), **FAST) as pair:
        assert pair.active.judged(endpoint="checker")[-1]["status"] == "CHECKED"
        os.kill(pair.active.pid, signal.SIGSTOP)
        postgres.end_sessions(f"warmfront, process {pair.active.pid} %")
        pair.wait_for_takeover()
        os.kill(pair.active.pid, signal.SIGCONT)
        assert pair.active.wait() == 3
        assert any("has taken over" in line for line in pair.active.lines), pair.active.lines
        last = pair.standby.judged(endpoint="checker")
        assert last[-1]["status"] == "CHECKED"
        assert len(pair.standby.get("vms")["items"]) == 1  # the VM of the first submission is used again


def test_a_standby_with_another_secret_is_refused(tmp_path: Path, postgres: PostgresServer) -> None:
    """It could not use the VMs of the active service, so it does not start, and says what to copy."""
    url = postgres.new_database(tables=False)
    (tmp_path / "other").mkdir()
    with standby_pair(tmp_path, url, **FAST):
        other = Service(tmp_path / "other", WARMFRONT_DATABASE_URL=url, WARMFRONT_STANDBY="true")
        other.start()
        assert other.wait() == 2
        assert any("another secret" in line for line in other.lines), other.lines
