"""What we hand to dstack, what `deploy/` holds of it, and what a bad setting gets instead."""

from __future__ import annotations

import configparser
import importlib.metadata
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from dstack._internal.core.models.configurations import parse_apply_configuration

from warmfront import settings
from warmfront.cli.fleet import to_yaml
from warmfront.errors import BadSetting, DstackMissing, UsageError
from warmfront.providers.dstack import configuration, server_session

ROOT = Path(__file__).parents[4]
DEPLOY = ROOT / "deploy"
OURS = settings.load({}, env_file=None)
FILES = {"fleet": "fleet.dstack.yml", "worker": "worker.dstack.yml", "direct": ".dstack.yml"}


@pytest.mark.parametrize("kind", FILES)
def test_the_files_to_deploy_are_what_warmfront_generates(kind: str) -> None:
    """Each file is the text that `warmfront fleet config` prints with the defaults, below one comment."""
    comment, text = (DEPLOY / FILES[kind]).read_text().split("\n", 1)
    assert comment.startswith("# `warmfront fleet config ")
    assert text == to_yaml(configuration.of_kind(kind, OURS))


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.dstack.yml")), ids=lambda path: path.name)
def test_dstack_itself_takes_each_file(path: Path) -> None:
    """Its own models parse them, and refuse what they do not know."""
    read = yaml.safe_load(path.read_text())
    assert parse_apply_configuration(read).type == read["type"]
    with pytest.raises(Exception, match="extra"):
        parse_apply_configuration({**read, "no_such_field": 1})


def test_a_fleet_scales_from_zero_and_is_never_one_of_hosts() -> None:
    """`nodes: 0..N`, an end to idleness, a price, and no `ssh_config`."""
    wanted = replace(OURS, fleet_max_nodes=3, fleet_idle_s=90, backend="hotaisle")
    parsed = parse_apply_configuration(configuration.fleet_configuration(wanted))
    assert (parsed.nodes.min, parsed.nodes.target, parsed.nodes.max) == (0, 0, 3)
    assert (parsed.idle_duration, parsed.max_price) == (90, 1.99)
    assert [backend.value for backend in parsed.backends] == ["hotaisle"]
    assert parsed.ssh_config is None


def test_a_worker_has_an_end_a_price_and_no_secret_but_its_token() -> None:
    """Whatever the service knows stays with the service."""
    secret = replace(
        OURS,
        dstack_token="dstack-secret",  # noqa: S106 - to be looked for
        devcloud_api_key="cloud-secret",
        database_url="postgresql://me:db-secret@db/x",
    )
    task = configuration.worker_task(secret, vm_id="vm_0123456789abcdef01234567", token="vm-token")  # noqa: S106
    parsed = parse_apply_configuration(task)
    assert (parsed.max_duration, parsed.max_price, parsed.idle_duration) == (86400, 1.99, 0)
    assert task["env"]["WARMFRONT_LISTENER_TOKEN"] == "vm-token"  # noqa: S105 - as above
    assert "secret" not in str(task)
    assert not [value for value in task["env"].values() if value.startswith(("/", "~"))]
    assert configuration.id_of(parsed.name) == "vm_0123456789abcdef01234567"
    assert configuration.id_of("someone-elses") is None


def test_what_a_judge_on_a_vm_reads_is_what_is_set_here() -> None:
    """The limits travel in the task's environment, and read back as they were."""
    ours = replace(OURS, memory_bytes=3 << 30, cpus=1.5, task_timeout_s=90.0)
    read = settings.load(configuration.judge_environ(ours), env_file=None)
    assert read == ours


def test_a_run_for_one_submission_reuses_a_warm_vm() -> None:
    """`reuse-or-create`, an idle duration that keeps the VM, and the attempt's own time limit."""
    task = configuration.submission_task(OURS, name="wf-sub-1", commands=["true"], ports=[8000])
    parsed = parse_apply_configuration(task)
    assert parsed.creation_policy.value == "reuse-or-create"
    assert (parsed.idle_duration, parsed.max_duration) == (600, 600)
    assert [port.container_port for port in parsed.ports] == [8000]


def test_the_server_gets_a_backend_only_with_a_key() -> None:
    """With the key, the `config.yml` of a dstack server; without, what is missing."""
    made = configuration.server_configuration(replace(OURS, devcloud_api_key="dop_v1_x"))
    backend = made["projects"][0]["backends"][0]
    assert (backend["type"], backend["creds"]["api_key"]) == ("amddevcloud", "dop_v1_x")
    with pytest.raises(BadSetting, match="DSTACK_AMDDEVCLOUD_API_KEY is not set"):
        configuration.server_configuration(OURS)
    with pytest.raises(UsageError, match="no configuration 'x'"):
        configuration.of_kind("x", OURS)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AMD_FLEET_NAME", "my fleet"),
        ("AMD_FLEET_NAME", "Fleet"),
        ("AMD_FLEET_NAME", "f" * 42),
        ("AMD_FLEET_MAX_NODES", "0"),
        ("AMD_FLEET_MAX_NODES", "-1"),
        ("AMD_FLEET_MAX_NODES", "5000"),
        ("AMD_FLEET_IDLE_DURATION", "-5m"),
        ("AMD_FLEET_IDLE_DURATION", "off"),
        ("AMD_FLEET_IDLE_DURATION", "400d"),
        ("AMD_SPOT_POLICY", "cheap"),
        ("AMD_GPU_MEMORY", "lots"),
        ("AMD_BACKEND", "AMD Cloud"),
        ("AMD_MI300X_HOURLY_RATE", "-1.99"),
        ("AMD_VM_MAX_DURATION", "1s"),
        ("WARMFRONT_DSTACK_MODE", "both"),
        ("WARMFRONT_WORKER_IMAGE", "rocm/dev:latest"),
        ("WARMFRONT_WORKER_IMAGE", "rocm/dev"),
        ("DSTACK_SERVER_URL", "sky.dstack.ai"),
    ],
)
def test_bad_values_are_refused_by_name(variable: str, value: str) -> None:
    """Before anything is sent, with the variable, the value, and what is allowed."""
    with pytest.raises(BadSetting) as raised:
        settings.load({variable: value}, env_file=None)
    assert variable in raised.value.message
    assert value in raised.value.message
    assert variable in (raised.value.hint or "")


@pytest.mark.parametrize("rate", ["0", "101"])
def test_an_absurd_price_is_refused(rate: str) -> None:
    """Free VMs and VMs at a hundred dollars an hour are slips of the keyboard."""
    with pytest.raises(BadSetting, match=f"AMD_MI300X_HOURLY_RATE is '{rate}'"):
        configuration.fleet_configuration(replace(OURS, rate_usd_per_h=Decimal(rate)))


def test_an_option_is_named_as_it_was_typed() -> None:
    """A bad option says its own name, not that of the variable."""
    with pytest.raises(BadSetting, match="--nodes is '99'"):
        settings.with_options(OURS, {"fleet_max_nodes": ("--nodes", "99")})
    assert settings.with_options(OURS, {"fleet_idle_s": ("--idle-duration", "2h")}).fleet_idle_s == 7200


def test_two_names_of_one_variable_may_not_disagree() -> None:
    """`DSTACK_BACKEND` is `AMD_BACKEND`; with two values, nobody knows which is meant."""
    assert settings.load({"DSTACK_BACKEND": "hotaisle"}, env_file=None).backend == "hotaisle"
    with pytest.raises(BadSetting, match="they mean the same"):
        settings.load({"DSTACK_BACKEND": "hotaisle", "AMD_BACKEND": "amddevcloud"}, env_file=None)


def test_variables_of_ssh_fleets_get_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """They do nothing, and whoever left them in `.env` is told so."""
    left = {
        "AMD_DEVCLOUD_HOSTS": "10.0.0.1",
        "AMD_DEVCLOUD_SSH_USER": "root",
        "AMD_DEVCLOUD_SSH_KEY_PATH": "",
    }
    assert settings.load(left, env_file=None) == OURS
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert all(re.match(r"AMD_DEVCLOUD_\w+ does nothing", text) for text in told)


@pytest.mark.parametrize(("version", "message"), [(None, "not installed"), ("0.18.2", "0.18.2 is too old")])
def test_dstack_must_be_there_and_new_enough(
    monkeypatch: pytest.MonkeyPatch, version: str | None, message: str
) -> None:
    """Without it, or with an old one, the message has the line that installs it."""

    def installed(_: str) -> str:
        if version is None:
            raise importlib.metadata.PackageNotFoundError
        return version

    monkeypatch.setattr(importlib.metadata, "version", installed)
    with pytest.raises(DstackMissing, match=message) as raised:
        server_session.check_installed()
    assert raised.value.hint == "pip install 'warmfront[dstack]'"


def test_no_git_is_needed(tmp_path: Path) -> None:
    """Where there is no git, as in a slim image, dstack's client ends at its import; with us it goes on."""
    done = subprocess.run(
        [sys.executable, "-m", "warmfront", "fleet", "list"],
        env={
            "PATH": str(tmp_path),
            "HOME": str(tmp_path),
            "DSTACK_SERVER_URL": "http://127.0.0.1:9",
            "DSTACK_TOKEN": "t",
            "DSTACK_PROJECT": "main",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "No dstack server answers" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Half a configuration says which half is missing; dstack's own file fills in the rest."""
    monkeypatch.setenv("HOME", str(tmp_path))
    half = replace(OURS, dstack_url="http://127.0.0.1:9", dstack_token="t")  # noqa: S106 - no secret
    with pytest.raises(BadSetting, match="DSTACK_PROJECT is not set"):
        server_session.open_session(half)
    known = {"name": "mine", "url": "http://127.0.0.1:9", "token": "stored", "default": True}
    (tmp_path / ".dstack" / "config.yml").write_text(yaml.safe_dump({"projects": [known]}))
    session = server_session._configured(OURS)
    assert (session.url, session.project, session.token) == ("http://127.0.0.1:9", "mine", "stored")


def test_a_vm_is_prepared_once(tmp_path: Path) -> None:
    """Where ROCm is, it comes to the shared folder, first in PATH; the worker's image is the boxes' too."""
    rocm, shared, programs = tmp_path / "rocm", tmp_path / "shared", tmp_path / "bin"
    for folder in (rocm / "bin", shared, programs):
        folder.mkdir(parents=True)
    (programs / "python3").write_text("#!/bin/sh\n")
    (programs / "python3").chmod(0o755)
    (rocm / "bin" / "hipcc").write_text("the compiler")
    script = configuration.PREPARE.read_text()
    script = script.replace("/opt/rocm", str(rocm)).replace("/opt/warmfront", str(shared))
    for _ in range(2):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{script}\necho $PATH; echo $WARMFRONT_DOCKER_IMAGE $WARMFRONT_BOX_DIR"],
            env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "WARMFRONT_WORKER_IMAGE": "worker:1"},
            capture_output=True,
            text=True,
            check=True,
        )
        path, rest = done.stdout.splitlines()
        assert path.startswith(f"{shared}/rocm/bin:")
        assert rest == f"worker:1 {shared}/boxes"
    assert [found.name for found in shared.iterdir()] == ["rocm"]
    assert (shared / "rocm" / "bin" / "hipcc").read_text() == "the compiler"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("Dockerfile")), ids=lambda path: path.parent.name)
def test_each_dockerfile_is_pinned_and_copies_what_there_is(path: Path) -> None:
    """No `latest`, no image without a tag, no file that is not in the repository or is kept from Docker."""
    text = path.read_text().replace("\\\n", " ")
    images = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert images
    assert all(":" in image and "latest" not in image for image in images)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    assert not [source for source in sources if not (ROOT / source).exists()]
    sent = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert set(sources) <= set(sent)


def test_the_compose_file_and_the_unit_set_variables_that_there_are() -> None:
    """What they set is a setting of ours, with a value that is allowed; the ports are on loopback."""
    ours = {settings._VARIABLES[field.name][0] for field in fields(settings.Settings)}
    service = _compose()["services"]["service"]
    assert set(service["environment"]) <= ours
    assert settings.load(service["environment"], env_file=None).provider == "dstack"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read(DEPLOY / "warmfront.service")
    assert unit["Service"]["ExecStart"].endswith("/warmfront serve")
    variables = re.findall(r"(WARMFRONT_\w+)=(\S+)", (DEPLOY / "warmfront.service").read_text())
    assert {name for name, _ in variables} <= ours
    assert settings.load(dict(variables), env_file=None).provider == "dstack"


def test_the_server_of_the_compose_file_is_the_one_that_is_tested() -> None:
    """Its version is that of dstack's client here."""
    image = _compose()["services"]["dstack"]["image"]
    assert image == f"dstackai/dstack:{importlib.metadata.version('dstack')}"


def _compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read
