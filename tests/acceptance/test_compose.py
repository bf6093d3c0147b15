"""`deploy/compose.yaml`: service, standby, PostgreSQL and Prometheus work together, and survive a kill."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import httpx
import pytest
import yaml

from tests.support import compose_file
from tests.support.services import EXAMPLE, PROMPT_S, listeners_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.databases import PostgresServer
    from tests.support.services import Service

pytestmark = [pytest.mark.slow, pytest.mark.prometheus]


@pytest.fixture(name="pair")
def _pair(tmp_path: Path, postgres: PostgresServer) -> Iterator[tuple[Service, Service]]:
    """Start `service`, then `standby`, on the database of compose.yaml."""
    compose = compose_file.load()
    postgres.run(f"CREATE DATABASE {compose['services']['postgres']['environment']['POSTGRES_DB']}")
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    first, second = (
        compose_file.service_of(name, compose, data_dir, postgres) for name in ("service", "standby")
    )
    try:
        yield first, second
    finally:
        second.stop()
        first.stop()
        assert listeners_of(data_dir) == []


@contextlib.contextmanager
def _prometheus(config: Path, folder: Path) -> Iterator[compose_file.Prometheus]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = [f"--config.file={config}", f"--storage.tsdb.path={folder}", f"--web.listen-address={address}"]
    with (folder.parent / "prometheus.log").open("w") as log:
        process = subprocess.Popen(["prometheus", *options], stdout=log, stderr=log)
        try:
            yield compose_file.Prometheus(f"http://{address}")
        finally:
            process.terminate()
            process.wait(timeout=PROMPT_S)


def _until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a state that another process reaches by itself, and that has no event."""
    deadline = time.monotonic() + PROMPT_S
    while True:
        with contextlib.suppress(httpx.HTTPError):  # a process that is starting
            if holds():
                return
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def _state(service: Service) -> str:
    return str(httpx.get(f"{service.url}/health", timeout=PROMPT_S).json()["state"])


def test_the_four_containers_work_together(
    tmp_path: Path, postgres: PostgresServer, pair: tuple[Service, Service]
) -> None:
    """Keys are created first, as documented; Prometheus sees the takeover; the killed one is the standby."""
    service, standby = pair
    compose = compose_file.load()["services"]
    address = ("--host=127.0.0.1", f"--port={postgres.port}")
    assert compose_file.health_check(compose["postgres"]["healthcheck"]["test"], options=address) == 0

    operator = service.run("keys", "create", "--user", "me", "--role", "operator").stdout.strip()
    reader = service.run("keys", "create", "--user", "prometheus").stdout.strip()
    service.start()
    standby.start()
    assert (_state(service), _state(standby)) == ("active", "standby")
    for running in pair:
        assert compose_file.health_check(compose["service"]["healthcheck"]["test"], url=running.url) == 0

    targets = {"service:3000": service.url, "standby:3000": standby.url}
    targets = {name: url.removeprefix("http://") for name, url in targets.items()}
    config = compose_file.prometheus_config(tmp_path, reader, targets)
    with _prometheus(config, tmp_path / "metrics") as prometheus:
        _until(
            lambda: prometheus.targets() == dict.fromkeys(targets.values(), "up"), "both targets are scraped"
        )
        first, second = targets.values()
        _until(lambda: prometheus.query("warmfront_active") == {first: 1.0, second: 0.0}, "one is active")
        assert set(prometheus.query("warmfront_credits_usd")) == {first}

        both = f"{service.url},{standby.url}"
        file = tmp_path / "leaky_relu.hip"
        file.write_text(EXAMPLE)
        check = ("submit", file, "-p", "leaky-relu", "--endpoint", "checker", "--json")
        client = {"WARMFRONT_URL": both, "WARMFRONT_API_KEY": operator}
        before = service.run(*check, **client)
        assert json.loads(before.stdout.splitlines()[-1])["status"] == "CHECKED", before.stderr

        service.kill()
        _until(lambda: _state(standby) == "active", "the standby takes over")
        after = service.run(*check, **client)
        assert json.loads(after.stdout.splitlines()[-1])["status"] == "CHECKED", after.stderr
        _until(lambda: prometheus.query("warmfront_active") == {second: 1.0}, "Prometheus sees the takeover")
        assert prometheus.targets() == {first: "down", second: "up"}

        service.start()  # `restart: unless-stopped`
        assert _state(service) == "standby"
        _until(lambda: prometheus.query("warmfront_active") == {first: 0.0, second: 1.0}, "it is the standby")
        _until(
            lambda: {health for health, _ in prometheus.rules().values()} == {"ok"},
            "every rule is evaluated without an error",
        )
        assert {state for _, state in prometheus.rules().values()} == {"inactive"}


def test_promtool_accepts_the_configuration_and_the_rules(tmp_path: Path) -> None:
    """The syntax of all expressions and templates is valid."""
    config = compose_file.prometheus_config(
        tmp_path, "key", {"service:3000": "127.0.0.1:1", "standby:3000": "127.0.0.1:2"}
    )
    checked = subprocess.run(
        ["promtool", "check", "config", config], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "9 rules found" in checked.stdout


#: By rule: the samples of one minute each that make it fire, and its summary then.
FIRING = {
    "WarmfrontDown": ({}, "No active Warmfront service responds."),
    "WarmfrontCreditsSpent": (
        {
            'warmfront_spent_usd{simulated="false"}': "85x60",
            'warmfront_credits_usd{simulated="false"}': "100x60",
        },
        "85% of the credits are spent.",
    ),
    "WarmfrontCreditsRunOut": (
        {
            'warmfront_spent_usd{simulated="false"}': "10x60",
            'warmfront_credits_usd{simulated="false"}': "100x60",
            "warmfront_burn_usd_per_hour": "9x60",
        },
        "At the burn rate of the last six hours, the credits last 10 hours.",
    ),
    "WarmfrontIdleVM": (
        {"warmfront_idle_overdue_seconds": "180x60"},
        "A VM is idle 3m 0s after its deadline.",
    ),
    "WarmfrontQueueWait": (
        {"warmfront_oldest_wait_seconds": "960x60", "warmfront_queue_length": "4x60"},
        "A submission has waited 16m 0s; 4 are queued.",
    ),
    "WarmfrontCircuitBreakerOpen": (
        {'warmfront_provisioning_breaker_open{gpu="MI300X",kind="QUOTA"}': "1x60"},
        "No VM with MI300X is provisioned (QUOTA); submissions fail.",
    ),
    "WarmfrontShortage": (
        {'warmfront_provisioning_shortage_since_seconds{gpu="MI300X"}': "0x60"},
        "No MI300X is available for 30m 0s.",
    ),
    "WarmfrontInfrastructureErrors": (
        {'warmfront_verdicts_total{verdict="ERROR"}': "0+1x60"},
        "15 submissions failed because of the infrastructure in 15 minutes.",
    ),
    "WarmfrontIntakePaused": (
        {"warmfront_intake_paused": "1x300"},
        "The intake has been paused for four hours.",
    ),
}


def test_each_rule_fires_with_the_labels_that_the_service_exports(tmp_path: Path) -> None:
    """Prometheus evaluates each rule on samples: labels match, and the summary is a sentence."""
    rules = yaml.safe_load((compose_file.DEPLOY / "prometheus-alerts.yml").read_text())["groups"][0]["rules"]
    assert {rule["alert"] for rule in rules} == set(FIRING)
    tests = []
    for rule in rules:
        samples, summary = FIRING[rule["alert"]]
        series = [
            {"series": _with_instance(name), "values": re.sub(r"^(\d+)x", r"\1+0x", values)}
            for name, values in samples.items()
        ]
        labels = dict(re.findall(r'(\w+)="(\w+)"', next(iter(samples), "")))
        instance = {"instance": "service:3000", "job": "warmfront"} if samples else {}
        alert = {
            "exp_labels": {**rule["labels"], **labels, **instance},
            "exp_annotations": {"summary": summary},
        }
        tests.append(
            {
                "interval": "1m",
                "input_series": series,
                "alert_rule_test": [
                    {
                        "eval_time": "270m" if rule["alert"] == "WarmfrontIntakePaused" else "30m",
                        "alertname": rule["alert"],
                        "exp_alerts": [alert],
                    }
                ],
            }
        )
    file = tmp_path / "tests.yml"
    groups = {"rule_files": [str(compose_file.DEPLOY / "prometheus-alerts.yml")], "tests": tests}
    file.write_text(yaml.safe_dump(groups))
    result = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def _with_instance(series: str) -> str:
    """Add the labels that Prometheus adds to what it scrapes."""
    name, _, labels = series.rstrip("}").partition("{")
    added = 'instance="service:3000",job="warmfront"'
    return f"{name}{{{labels},{added}}}" if labels else f"{name}{{{added}}}"
