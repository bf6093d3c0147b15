"""The Grafana dashboard and the Prometheus alerts in deploy/ use only metrics that the service exports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.api_harness import ApiHarness, served

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = DEPLOY / "grafana" / "warmfront.json"
ALERTS = DEPLOY / "prometheus-alerts.yml"


def _dashboard_expressions() -> list[str]:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def _rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def _metrics(text: str) -> set[str]:
    return set(re.findall(r"warmfront_\w+", text))


@served()
async def test_every_metric_is_exported(harness: ApiHarness) -> None:
    """A renamed metric fails this test, before a dashboard is empty."""
    await harness.client.submit(accept="*/*")
    text = (await harness.client.get("/metrics")).body.decode()
    declared = {
        name for line in text.splitlines() if line.startswith("# TYPE ") for name in [line.split()[2]]
    }
    used = _metrics(" ".join([*_dashboard_expressions(), ALERTS.read_text()]))
    assert len(used) > 12
    assert used <= declared
    assert list(text_string_to_metric_families(text))
    labels = re.findall(r'verdict="(\w+)"|by \((\w+)\)', " ".join(_dashboard_expressions()))
    assert {name for pair in labels for name in pair if name} <= {"verdict", "vm_state", "ERROR"}


def test_panels_and_rules_are_complete() -> None:
    """Each panel has a description and its own place; each rule has a severity and a summary."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["description"] and panel["targets"] for panel in panels)
    cells = [
        (x, y)
        for panel in panels
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    for rule in _rules():
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}, rule["alert"]
        assert rule["annotations"]["summary"]
        assert rule["expr"].count("(") == rule["expr"].count(")")


@served()
async def test_the_metrics_of_operators_have_values(harness: ApiHarness) -> None:
    """Burn rate, wait and pause are what the service shows elsewhere."""
    await harness.client.submit(accept="*/*")
    await harness.client.post("/api/amd/intake/pause", {"mode": "queue", "reason": "x"})
    text = (await harness.client.get("/metrics")).body.decode()
    shown = (await harness.client.get("/api/amd/operations")).json()["money"]["burn_usd_per_h"]
    assert f"warmfront_burn_usd_per_hour {shown}" in text
    assert "warmfront_intake_paused 1.0" in text
    assert "warmfront_max_vms 3.0" in text
