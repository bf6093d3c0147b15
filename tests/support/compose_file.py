"""`deploy/compose.yaml` without Docker: its services as processes on loopback, with their own settings.

Images cannot be pulled in tests. What an image would add is replaced: the names of containers by addresses on
loopback, the database's image by the server of `tests.support.databases`, and dstack by local VMs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import yaml

from tests.support.databases import PASSWORD
from tests.support.services import PROMPT_S, REHEARSAL, ROOT, Service

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.databases import PostgresServer

DEPLOY = ROOT / "deploy"
#: `.env` of the operator, as docs/deployment.md describes it.
ENV = {
    "PYTHON_DIGEST": f"sha256:{'1' * 64}",
    "POSTGRES_DIGEST": f"sha256:{'2' * 64}",
    "PROMETHEUS_DIGEST": f"sha256:{'3' * 64}",
    "POSTGRES_PASSWORD": PASSWORD,
    "COMPOSE_DSTACK_SERVER_URL": "http://dstack.example:3000",
    "DSTACK_TOKEN": "a-token",
}
#: Settings that have to differ outside of containers.
_LOCAL = {"WARMFRONT_PROVIDER": "local", "WARMFRONT_HOST": "127.0.0.1", "WARMFRONT_BUG_FINDER": "false"}
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(text: str, env: Mapping[str, str] = ENV) -> str:
    """Return a text of compose.yaml with its variables replaced, as Docker Compose does."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match[1], match[2], match[3]
        if env.get(name):
            return env[name]
        assert kind != "?", f"{name}: {rest}"
        return rest or ""

    return _VARIABLE.sub(value, text)


def load() -> dict[str, Any]:
    """Return compose.yaml with its variables replaced."""
    return dict(yaml.safe_load(interpolated((DEPLOY / "compose.yaml").read_text())))


def service_of(name: str, compose: dict[str, Any], data_dir: Path, postgres: PostgresServer) -> Service:
    """Return a service of compose.yaml, with the environment that the file gives it."""
    environment = {key: str(text) for key, text in compose["services"][name]["environment"].items()}
    host = f"@127.0.0.1:{postgres.port}/"
    environment["WARMFRONT_DATABASE_URL"] = environment["WARMFRONT_DATABASE_URL"].replace("@postgres/", host)
    del environment["WARMFRONT_PORT"]  # outside of containers, both services would use the same port
    return Service(data_dir, **{**environment, **_LOCAL, **REHEARSAL})


def health_check(command: list[str], *, url: str = "", options: tuple[str, ...] = ()) -> int:
    """Run the `test` of a health check outside of its container, and return its exit code.

    Args:
        command: the `test` of compose.yaml.
        url: the address in place of the one inside the container.
        options: more options, such as a port.
    """
    kind, *words = command
    assert kind == "CMD"
    words = [*(word.replace("http://127.0.0.1:3000", url) for word in words), *options]
    if words[0] == "python":
        words[0] = sys.executable
    return subprocess.run(words, check=False, capture_output=True, timeout=PROMPT_S).returncode


def prometheus_config(folder: Path, key: str, targets: Mapping[str, str]) -> Path:
    """Write the configuration of Prometheus with other addresses, and return its path."""
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (folder / "api-key").write_text(key)
    job["authorization"]["credentials_file"] = str(folder / "api-key")
    for static in job["static_configs"]:
        static["targets"] = [targets[target] for target in static["targets"]]
    config["global"]["scrape_interval"] = config["global"]["evaluation_interval"] = "1s"
    config["rule_files"] = [str(DEPLOY / name) for name in config["rule_files"]]
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(config))
    return path


class Prometheus:
    """A running Prometheus."""

    def __init__(self, url: str) -> None:
        self._url = url

    def query(self, expression: str) -> dict[str, float]:
        """Return the value per instance."""
        found = self._get("query", query=expression)["result"]
        return {each["metric"].get("instance", ""): float(each["value"][1]) for each in found}

    def targets(self) -> dict[str, str]:
        """Return the health of each target: `up`, `down` or `unknown`."""
        active = self._get("targets")["activeTargets"]
        return {each["labels"]["instance"]: each["health"] for each in active}

    def rules(self) -> dict[str, tuple[str, str]]:
        """Return the health and the state of each alerting rule."""
        groups = self._get("rules")["groups"]
        return {rule["name"]: (rule["health"], rule["state"]) for group in groups for rule in group["rules"]}

    def _get(self, path: str, **parameters: str) -> dict[str, Any]:
        response = httpx.get(f"{self._url}/api/v1/{path}", params=parameters, timeout=PROMPT_S)
        return dict(response.raise_for_status().json()["data"])
