"""`deploy/compose.yaml`: two services on one PostgreSQL, and Prometheus; everything they refer to exists."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from warmfront import setting_variables, settings

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
#: Files that the operator creates; the documentation says how.
CREATED = {"./dstack-server.yml", "./prometheus-api-key"}


def test_service_and_standby_differ_in_port_and_build_only() -> None:
    """Both have the same settings, database, secret and image; only the first one builds the image."""
    service, standby = dict(SERVICES["service"]), dict(SERVICES["standby"])
    service.pop("build")
    ports = [definition.pop("ports") for definition in (service, standby)]
    assert service == standby
    assert ports[0] != ports[1]


def test_the_services_wait_for_the_database_that_they_use() -> None:
    """The settings are valid, and name the database, user and host of the PostgreSQL container."""
    environ = {**SERVICES["service"]["environment"], "DSTACK_SERVER_URL": "http://dstack:3000"}
    environ["WARMFRONT_DATABASE_URL"] = environ["WARMFRONT_DATABASE_URL"].replace("${POSTGRES_PASSWORD}", "x")
    loaded = settings.load(environ, env_file=None)
    server = SERVICES["postgres"]["environment"]
    expected = f"postgresql://{server['POSTGRES_USER']}:x@postgres/{server['POSTGRES_DB']}"
    assert (loaded.standby, loaded.database_url) == (True, expected)
    assert SERVICES["service"]["depends_on"]["postgres"] == {"condition": "service_healthy"}
    assert "healthcheck" in SERVICES["postgres"]


@pytest.mark.parametrize("name", SERVICES)
def test_references_exist(name: str) -> None:
    """Services, volumes, secrets and files that a service refers to are defined; ports are on loopback."""
    service = SERVICES[name]
    assert set(service.get("depends_on", {})) <= set(SERVICES)
    assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
    volumes = service.get("volumes", [])
    for source in (one["source"] if isinstance(one, dict) else one.partition(":")[0] for one in volumes):
        if source.startswith("."):
            assert source in CREATED or (DEPLOY / source).is_file(), source
        else:
            assert source in COMPOSE["volumes"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize("name", ["postgres", "prometheus", "dstack"])
def test_images_of_others_are_pinned_by_digest(name: str) -> None:
    """An image has a version and its digest, without which it cannot be pulled."""
    # A container with a profile has an invalid default, so that its variable is needed only with the profile.
    missing = r":-set-\w+-in-\.env" if "profiles" in SERVICES[name] else r":\?set .+"
    assert re.fullmatch(rf"[\w./-]+:[\w.-]+@\$\{{\w+_DIGEST{missing}\}}", SERVICES[name]["image"])


def test_prometheus_scrapes_both_services_with_a_key() -> None:
    """The targets are the containers' names and ports, and the key is the secret that it is given."""
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    (targets,) = (static["targets"] for static in job["static_configs"])
    expected = [
        f"{name}:{SERVICES[name]['environment']['WARMFRONT_PORT']}" for name in ("service", "standby")
    ]
    assert targets == expected
    (secret,) = SERVICES["prometheus"]["secrets"]
    assert job["authorization"] == {"credentials_file": f"/run/secrets/{secret}"}


def _mounts(name: str) -> dict[str, str]:
    """Return the targets of the files and volumes of a service, with their sources."""
    mounts = {}
    for volume in SERVICES[name].get("volumes", []):
        if isinstance(volume, dict):
            mounts[volume["target"]] = volume["source"]
        else:
            source, target, *_ = volume.split(":")
            mounts[target] = source
    return mounts


def test_every_file_of_prometheus_is_mounted() -> None:
    """The configuration, and the rules to which it refers, are where Prometheus reads them."""
    folder = PurePosixPath("/etc/prometheus")
    mounts = _mounts("prometheus")
    assert mounts[str(folder / "prometheus.yml")] == "./prometheus.yml"
    rule_files = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["rule_files"]
    assert rule_files
    for name in rule_files:  # relative to the configuration
        source = mounts[str(folder / name)]
        assert yaml.safe_load((DEPLOY / source).read_text())["groups"]


@pytest.mark.parametrize("name", SERVICES)
def test_files_are_read_only_and_mounted_once(name: str) -> None:
    """A file of the repository cannot be changed by a container, and no two mounts have one target."""
    volumes = SERVICES[name].get("volumes", [])
    assert len(_mounts(name)) == len(volumes)
    for volume in volumes:
        if isinstance(volume, dict):
            assert volume["read_only"]
        elif volume.startswith("."):
            assert volume.endswith(":ro"), volume


def test_the_image_is_built_from_files_that_exist() -> None:
    """The build context, the Dockerfile and everything that it copies exist; its arguments are passed."""
    build = SERVICES["service"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    dockerfile = (context / build["dockerfile"]).read_text()
    for line in re.findall(r"^COPY (.+)$", dockerfile, re.MULTILINE):
        *sources, _ = line.split()
        assert all((context / source).exists() for source in sources), line
    assert set(re.findall(r"^ARG (\w+)$", dockerfile, re.MULTILINE)) == set(build["args"])
    (image,) = {SERVICES[name]["image"] for name in ("service", "standby")}
    assert f"docker build -t {image} " in dockerfile
    data_dirs = re.findall(r"^ENV WARMFRONT_DATA_DIR=(\S+)$", dockerfile, re.MULTILINE)
    assert data_dirs == [target for target, source in _mounts("service").items() if source == "data"]


def test_the_settings_file_is_the_one_that_the_documentation_creates() -> None:
    """`.env` is in the root directory of the repository, for compose and for the containers."""
    for name in ("service", "standby"):
        assert (DEPLOY / SERVICES[name]["env_file"]).resolve() == ROOT / ".env"
    text = (ROOT / "docs" / "deployment.md").read_text()
    assert "--env-file .env -f deploy/compose.yaml" in text
    for path in CREATED:
        created = f"deploy/{path.removeprefix('./')}"
        assert created in text or created in (DEPLOY / "compose.yaml").read_text()
        assert created in (ROOT / ".gitignore").read_text().splitlines()  # they contain secrets


def test_secrets_are_defined_by_files() -> None:
    """Each secret is a file that the operator creates, and some service uses it."""
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    assert {secret["file"] for secret in COMPOSE["secrets"].values()} <= CREATED


def test_variables_of_compose_are_documented() -> None:
    """Every variable that must be set in `.env` for compose is named in the documentation."""
    text = (ROOT / "docs" / "deployment.md").read_text()
    used = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    ours = {setting_variables.VARIABLES[field.name][0] for field in fields(settings.Settings)}
    assert not {name for name in used - ours if name not in text}
