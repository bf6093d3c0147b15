"""The configurations for dstack, the files in `deploy/`, and the errors for invalid settings."""

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
from dstack._internal.core.backends.digitalocean_base.models import BaseDigitalOceanBackendConfigWithCreds
from dstack._internal.core.backends.hotaisle.models import HotAisleBackendConfigWithCreds
from dstack._internal.core.backends.kubernetes import models as kubernetes_models
from dstack._internal.core.models.configurations import parse_apply_configuration

from tests.support.dstack_owners import OWNERSHIP
from warmfront import setting_variables, settings
from warmfront.cli.yaml_text import to_yaml
from warmfront.clock import SystemClock
from warmfront.errors import BadSetting, DstackMissing, UsageError
from warmfront.providers import open_provider
from warmfront.providers.dstack import backends, configuration, server_session
from warmfront.values import SSHAddress

ROOT = Path(__file__).parents[4]
DEPLOY = ROOT / "deploy"
OURS = settings.load({}, env_file=None)
FILES = {"fleet": "fleet.dstack.yml", "worker": "worker.dstack.yml", "direct": ".dstack.yml"}


@pytest.mark.parametrize("kind", FILES)
def test_deploy_files_match_the_generated_configurations(kind: str) -> None:
    """Each file contains what `warmfront fleet config` prints with default settings, below one comment."""
    comment, text = (DEPLOY / FILES[kind]).read_text().split("\n", 1)
    assert comment.startswith("# `warmfront fleet config ")
    assert text == to_yaml(configuration.example_configuration(kind, OURS))


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.dstack.yml")), ids=lambda path: path.name)
def test_dstack_accepts_each_file(path: Path) -> None:
    """The file is valid according to dstack's own models, which reject unknown fields."""
    content = yaml.safe_load(path.read_text())
    assert parse_apply_configuration(content).type == content["type"]
    with pytest.raises(Exception, match="extra"):
        parse_apply_configuration({**content, "no_such_field": 1})


def test_fleet_scales_from_zero_and_has_no_ssh_hosts() -> None:
    """The fleet has `nodes: 0..N`, an idle duration, a maximum price and no `ssh_config`."""
    wanted = replace(OURS, fleet_max_nodes=3, fleet_idle_s=90, backend="hotaisle")
    parsed = parse_apply_configuration(configuration.fleet_configuration(wanted))
    assert (parsed.nodes.min, parsed.nodes.target, parsed.nodes.max) == (0, 0, 3)
    assert (parsed.idle_duration, parsed.max_price) == (90, 1.99)
    assert [backend.value for backend in parsed.backends] == ["hotaisle"]
    assert parsed.ssh_config is None


def test_worker_has_limits_and_no_secret_but_its_token() -> None:
    """The worker has a maximum duration and price, and gets no secret of the service and no local path."""
    secret = replace(
        OURS,
        dstack_token="dstack-secret",  # noqa: S106 - not a real secret
        devcloud_api_key="cloud-secret",
        database_url="postgresql://me:db-secret@db/x",
    )
    task = configuration.worker_task(
        secret,
        vm_id="vm_0123456789abcdef01234567",
        gpu="MI300X",
        token="vm-token",  # noqa: S106 - not a real secret
        owner="0a1b2c3d",
    )
    parsed = parse_apply_configuration(task)
    assert (parsed.max_duration, parsed.max_price, parsed.idle_duration) == (86400, 1.99, 0)
    assert task["env"]["WARMFRONT_LISTENER_TOKEN"] == "vm-token"  # noqa: S105 - not a real secret
    assert "secret" not in str(task)
    assert not [value for value in task["env"].values() if value.startswith(("/", "~"))]
    label = configuration.parse_run_name(parsed.name)
    assert label == configuration.RunLabel(owner="0a1b2c3d", our_id="vm_0123456789abcdef01234567")


CPU = settings.load(
    {
        "WARMFRONT_PROVIDER": "dstack",
        "AMD_CPU_FLEET_NAME": "cpu-nodes",
        "AMD_CPU_BACKEND": "digitalocean",
        "AMD_CPU_HOURLY_RATE": "0.07",
        "AMD_CPU_SLOTS": "2",
        "AMD_REGION": "atl1",
        "WARMFRONT_WORKER_IMAGE": "registry.example/vm:1@sha256:" + 64 * "0",
    },
    env_file=None,
)


def test_the_fleet_of_cpu_nodes_has_no_gpu() -> None:
    """It has its own name, cloud, price and size, and excludes VMs with a GPU."""
    parsed = parse_apply_configuration(configuration.example_configuration("cpu-fleet", CPU))
    assert (parsed.name, parsed.max_price, parsed.spot_policy.value) == ("cpu-nodes", 0.07, "on-demand")
    assert [backend.value for backend in parsed.backends] == ["digitalocean"]
    assert parsed.regions is None  # AMD_REGION is of another cloud
    resources = parsed.resources
    assert (resources.gpu.count.max, resources.cpu.count.min, resources.disk.size.min) == (0, 4, 50)
    with pytest.raises(BadSetting, match="AMD_CPU_FLEET_NAME is not set"):
        configuration.example_configuration("cpu-fleet", OURS)


def test_the_task_of_a_cpu_node_uses_the_cpu_runtime() -> None:
    """Its listener has the toolchain `cpu`, for kernels of the default GPU type, and its slots."""
    task = configuration.worker_task(CPU.of_cpu_fleet(), vm_id="vm_1", gpu="CPU", token="vm-token")  # noqa: S106
    parsed = parse_apply_configuration(task)
    assert (parsed.resources.gpu.count.max, parsed.max_price) == (0, 0.07)
    assert "--toolchain cpu" in task["commands"][-1]
    assert (task["env"]["WARMFRONT_GPU"], task["env"]["WARMFRONT_SLOTS"]) == ("MI300X", "2")
    assert "/dev/shm/warmfront:/dev/shm/warmfront" in task["volumes"]  # noqa: S108 - on the VM


def test_the_image_of_cpu_nodes_must_have_a_digest() -> None:
    """The image of CPU nodes runs as root, too."""
    configuration.check_images(CPU)
    with pytest.raises(BadSetting, match=r"AMD_CPU_IMAGE is 'registry.example/cpu:1', which has no digest"):
        configuration.check_images(replace(CPU, cpu_image="registry.example/cpu:1"))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("wf-vm-12ab", (None, "vm_12ab")),
        ("wf-0a1b2c3d-vm-12ab", ("0a1b2c3d", "vm_12ab")),
        ("wf-0a1b2c3d-att-12ab", ("0a1b2c3d", "att_12ab")),
        ("wf-0a1b-vm-12ab", None),
        ("wf-vm-", None),
        ("another-run", None),
    ],
)
def test_the_name_of_a_run_has_its_owner(name: str, label: tuple[str | None, str] | None) -> None:
    """It has the owner id of the service, unless it is older than owner ids."""
    parsed = configuration.parse_run_name(name)
    assert (None if parsed is None else (parsed.owner, parsed.our_id)) == label
    if parsed is not None:
        assert configuration.run_name(parsed.our_id, parsed.owner) == name


def test_judge_settings_survive_the_environment() -> None:
    """Settings loaded from the task's environment equal the settings that it was made from."""
    ours = replace(OURS, memory_bytes=3 << 30, cpus=1.5, task_timeout_s=90.0)
    loaded = settings.load(configuration.judge_environ(ours, "MI325X"), env_file=None)
    assert loaded == replace(ours, judge_gpu="MI325X")


def test_attempt_reuses_a_warm_vm() -> None:
    """The run has `reuse-or-create`, the fleet's idle duration and the attempt's time limit."""
    task = configuration.attempt_task(OURS, name="wf-att-1", gpu="MI300X", commands=["true"], ports=[8000])
    parsed = parse_apply_configuration(task)
    assert parsed.creation_policy.value == "reuse-or-create"
    assert (parsed.idle_duration, parsed.max_duration) == (600, 600)
    assert [port.container_port for port in parsed.ports] == [8000]


@pytest.mark.parametrize(("gpu", "memory_gb", "price"), [("MI300X", 192, 1.99), ("MI325X", 256, 2.25)])
def test_task_requests_the_gpu_of_the_vm(gpu: str, memory_gb: int, price: float) -> None:
    """GPU name, memory and maximum price are those of the requested GPU type."""
    ours = replace(OURS, gpu_type="MI300X,MI325X")
    for task in (
        configuration.worker_task(ours, vm_id="vm_1", gpu=gpu, token=""),
        configuration.attempt_task(ours, name="wf-att-1", gpu=gpu, commands=["true"]),
    ):
        parsed = parse_apply_configuration(task)
        assert (parsed.resources.gpu.name, parsed.max_price) == ([gpu], price)
        assert (parsed.resources.gpu.memory.min, parsed.resources.gpu.memory.max) == (memory_gb, memory_gb)


def test_fleet_with_two_gpu_types() -> None:
    """A fleet for two GPU types accepts both, up to the higher price."""
    parsed = parse_apply_configuration(
        configuration.fleet_configuration(settings.load({"AMD_GPU_TYPE": "MI300X, MI325X"}, env_file=None))
    )
    gpu = parsed.resources.gpu
    assert (gpu.name, gpu.memory.min, gpu.memory.max) == (["MI300X", "MI325X"], 192, 256)
    assert parsed.max_price == 2.25


def test_gpu_type_without_a_rate_is_rejected() -> None:
    """Without a rate there is no price limit and no ledger."""
    with pytest.raises(BadSetting, match="no hourly rate for the GPU type 'MI999X'"):
        configuration.fleet_configuration(replace(OURS, gpu_type="MI999X"))


def test_server_configuration_requires_an_api_key() -> None:
    """With the key, the result is a `config.yml`; without it, the error names the variable."""
    config = backends.server_configuration(replace(OURS, devcloud_api_key="dop_v1_x"))
    backend = config["projects"][0]["backends"][0]
    assert (backend["type"], backend["creds"]["api_key"]) == ("amddevcloud", "dop_v1_x")
    with pytest.raises(BadSetting, match="DSTACK_AMDDEVCLOUD_API_KEY is not set"):
        backends.server_configuration(OURS)
    with pytest.raises(UsageError, match="Unknown configuration 'x'"):
        configuration.example_configuration("x", OURS)


def test_server_configuration_of_hot_aisle() -> None:
    """It has the key and the team, as dstack's own model requires; an unknown backend is refused."""
    ours = replace(OURS, backend="hotaisle", hotaisle_api_key="id.secret", hotaisle_team="kernels")
    (project,) = backends.server_configuration(ours)["projects"]
    (backend,) = project["backends"]
    model = HotAisleBackendConfigWithCreds.model_validate(backend)
    assert (model.team_handle, model.creds.api_key) == ("kernels", "id.secret")
    with pytest.raises(BadSetting, match="DSTACK_HOTAISLE_API_KEY and DSTACK_HOTAISLE_TEAM are not set"):
        backends.server_configuration(replace(OURS, backend="hotaisle"))
    with pytest.raises(BadSetting, match="AMD_BACKEND is 'aws'; there is a server configuration only"):
        backends.server_configuration(replace(OURS, backend="aws"))


def test_server_configuration_has_the_backend_of_cpu_nodes() -> None:
    """Each cloud is listed once; an error names the variable that selects the cloud."""
    ours = replace(OURS, provider="dstack", cpu_fleet_name="cpu-nodes", devcloud_api_key="dop_v1_x")
    hot_aisle = replace(
        ours, cpu_backend="hotaisle,amddevcloud", hotaisle_api_key="id.secret", hotaisle_team="kernels"
    )
    assert _backend_types(ours) == ["amddevcloud"]
    assert _backend_types(hot_aisle) == ["amddevcloud", "hotaisle"]
    assert _backend_types(replace(hot_aisle, cpu_fleet_name=None)) == ["amddevcloud"]
    ocean = replace(ours, cpu_backend="digitalocean", digitalocean_api_key="dop_v1_y")
    (project,) = backends.server_configuration(ocean)["projects"]
    read = BaseDigitalOceanBackendConfigWithCreds.model_validate(project["backends"][1])
    assert (read.type, read.creds.api_key) == ("digitalocean", "dop_v1_y")
    own_machines = replace(hot_aisle, fleet_hosts=(SSHAddress(host="10.0.0.11"),))
    assert _backend_types(own_machines) == ["hotaisle", "amddevcloud"]
    with pytest.raises(BadSetting, match="AMD_CPU_BACKEND is 'gcp'; there is a"):
        backends.server_configuration(replace(ours, cpu_backend="gcp"))
    with pytest.raises(BadSetting, match="DSTACK_HOTAISLE_API_KEY and DSTACK_HOTAISLE_TEAM are not set"):
        backends.server_configuration(replace(ours, cpu_backend="hotaisle"))


def _backend_types(ours: settings.Settings) -> list[str]:
    [project] = backends.server_configuration(ours)["projects"]
    return [backend["type"] for backend in project["backends"]]


def test_cpu_nodes_cannot_run_on_kubernetes() -> None:
    """The error names the variable of their cloud."""
    ours = replace(OURS, provider="dstack", cpu_fleet_name="cpu-nodes", cpu_backend="kubernetes")
    for checked in (ours, ours.of_cpu_fleet()):
        with pytest.raises(BadSetting, match="AMD_CPU_BACKEND is 'kubernetes', but CPU nodes cannot run on"):
            backends.check_backends(checked)


def test_server_configuration_of_kubernetes(tmp_path: Path) -> None:
    """The real server's model reads the file that is printed, and the cluster's credentials with it."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1")
    environ = {"AMD_BACKEND": "kubernetes", "DSTACK_KUBECONFIG": str(kubeconfig)}
    ours = settings.load({**environ, "DSTACK_KUBERNETES_NODE": "203.0.113.7:32000"}, env_file=None)
    printed = yaml.safe_load(to_yaml(configuration.example_configuration("server", ours)))
    (backend,) = printed["projects"][0]["backends"]
    read = kubernetes_models.KubernetesBackendFileConfigWithCreds.model_validate(backend)
    assert (read.kubeconfig.filename, read.kubeconfig.data) == (str(kubeconfig), "apiVersion: v1")
    assert (read.proxy_jump.hostname, read.proxy_jump.port) == ("203.0.113.7", 32000)
    without_node = backends.server_configuration(replace(ours, kubernetes_node=None))
    assert "proxy_jump" not in without_node["projects"][0]["backends"][0]
    with pytest.raises(BadSetting, match="DSTACK_KUBECONFIG is not set"):
        backends.server_configuration(replace(ours, kubeconfig=None))
    with pytest.raises(BadSetting, match="DSTACK_KUBERNETES_NODE is 'me@node'"):
        settings.load({"DSTACK_KUBERNETES_NODE": "me@node"}, env_file=None)


def test_vms_cannot_run_on_kubernetes() -> None:
    """The service refuses to start, with the reason and the alternative."""
    ours = replace(OURS, provider="dstack", backend="amddevcloud,kubernetes")
    with pytest.raises(
        BadSetting, match="VMs cannot run on kubernetes: dstack mounts only directories"
    ) as raised:
        open_provider(ours, SystemClock(), ownership=OWNERSHIP)
    assert "AMD_FLEET_HOSTS" in (raised.value.hint or "")
    # If this changes, the node's Docker socket can be mounted, and docs/own-machines.md is wrong.
    code = Path(kubernetes_models.__file__).with_name("compute.py").read_text()
    assert 'type="DirectoryOrCreate"' in code


def test_the_minimum_reservation_of_hot_aisle_is_required() -> None:
    """Dstack does not report it, and a default of 0 would count a sixtieth of the bill."""
    ours = replace(OURS, backend="hotaisle", worker_image=f"registry.example/vm@sha256:{'0' * 64}")
    with pytest.raises(BadSetting, match="AMD_MINIMUM_RESERVATION is not set, and hotaisle bills"):
        open_provider(replace(ours, provider="dstack"), SystemClock(), ownership=OWNERSHIP)
    assert configuration.minimum_reservation_s(replace(ours, minimum_reservation_s=0)) == 0
    assert configuration.minimum_reservation_s(replace(ours, minimum_reservation_s=14400)) == 14400
    assert configuration.minimum_reservation_s(OURS) == 0


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
def test_error_for_an_invalid_value_names_the_variable(variable: str, value: str) -> None:
    """The error has the variable, the value and what is allowed, before anything is sent."""
    with pytest.raises(BadSetting) as raised:
        settings.load({variable: value}, env_file=None)
    assert variable in raised.value.message
    assert value in raised.value.message
    assert variable in (raised.value.hint or "")


@pytest.mark.parametrize("rate", ["0", "101"])
def test_implausible_rate_is_rejected(rate: str) -> None:
    """A rate of zero, or above a hundred dollars per hour, is a typing error."""
    with pytest.raises(BadSetting, match=f"AMD_MI300X_HOURLY_RATE is '{rate}'"):
        configuration.fleet_configuration(replace(OURS, rate_usd_per_h=Decimal(rate)))


def test_error_for_an_invalid_option_names_the_option() -> None:
    """The error names the option, not the variable."""
    with pytest.raises(BadSetting, match="--nodes is '9999'"):
        settings.with_options(OURS, {"fleet_max_nodes": ("--nodes", "9999")})
    assert settings.with_options(OURS, {"fleet_idle_s": ("--idle-duration", "2h")}).fleet_idle_s == 7200


def test_conflicting_aliases_are_rejected() -> None:
    """`DSTACK_BACKEND` is an alias of `AMD_BACKEND`; two different values are an error."""
    assert settings.load({"DSTACK_BACKEND": "hotaisle"}, env_file=None).backend == "hotaisle"
    with pytest.raises(BadSetting, match="its alias DSTACK_BACKEND"):
        settings.load({"DSTACK_BACKEND": "hotaisle", "AMD_BACKEND": "amddevcloud"}, env_file=None)


def test_variables_of_ssh_fleets_cause_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Variables without effect are ignored with a warning each, unless they are empty."""
    left = {
        "AMD_DEVCLOUD_HOSTS": "10.0.0.1",
        "AMD_DEVCLOUD_SSH_USER": "root",
        "AMD_DEVCLOUD_SSH_KEY_PATH": "",
    }
    assert settings.load(left, env_file=None) == OURS
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 2
    assert all(re.match(r"AMD_DEVCLOUD_\w+ has no effect", text) for text in warnings)


@pytest.mark.parametrize(("version", "message"), [(None, "not installed"), ("0.18.2", "0.18.2 is too old")])
def test_dstack_must_be_installed_and_recent(
    monkeypatch: pytest.MonkeyPatch, version: str | None, message: str
) -> None:
    """If dstack is missing or too old, the hint has the command that installs it."""

    def installed(_: str) -> str:
        if version is None:
            raise importlib.metadata.PackageNotFoundError
        return version

    monkeypatch.setattr(importlib.metadata, "version", installed)
    with pytest.raises(DstackMissing, match=message) as raised:
        server_session.check_installed()
    assert "scripts/setup dstack-client" in str(raised.value.hint)
    monkeypatch.setattr(server_session, "_CHECKOUT", Path("/"))  # installed from a wheel
    with pytest.raises(DstackMissing) as raised:
        server_session.check_installed()
    assert raised.value.hint == "pip install 'warmfront[dstack]'"


def test_git_is_not_required(tmp_path: Path) -> None:
    """Without git, as in a slim image, importing dstack's client fails; our command works."""
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
    assert "No dstack server responds" in done.stderr
    assert "Traceback" not in done.stderr


def test_incomplete_server_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error names the missing variable; dstack's own configuration file provides missing values."""
    monkeypatch.setenv("HOME", str(tmp_path))
    half = replace(OURS, dstack_url="http://127.0.0.1:9", dstack_token="t")  # noqa: S106 - no secret
    with pytest.raises(BadSetting, match="DSTACK_PROJECT is not set"):
        server_session.open_session(half)
    known = {"name": "mine", "url": "http://127.0.0.1:9", "token": "stored", "default": True}
    (tmp_path / ".dstack" / "config.yml").write_text(yaml.safe_dump({"projects": [known]}))
    session = server_session._configured_session(OURS)
    assert (session.url, session.project, session.token) == ("http://127.0.0.1:9", "mine", "stored")


def _prepare(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as on a VM, and print the variables that it sets."""
    script = configuration.PREPARE.read_text()
    for inside in ("/opt/rocm", "/opt/warmfront-image", "/opt/warmfront"):
        script = re.sub(rf"{inside}(?![\w-])", str(tmp_path / Path(inside).name), script)
    shown = ("PATH", "WARMFRONT_DOCKER_IMAGE", "WARMFRONT_DOCKER_IMAGE_DIRS", "WARMFRONT_BOX_DIR")
    return subprocess.run(
        ["/bin/sh", "-c", f"{script}\n{'; '.join(f'echo ${name}' for name in shown)}"],
        env={"PATH": "/usr/bin:/bin", "WARMFRONT_WORKER_IMAGE": "worker:1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_prepare_script_uses_what_the_image_has(tmp_path: Path) -> None:
    """The image's compiler and packages are first in PATH; boxes use the same image; ROCm is not copied."""
    image, rocm, shared = tmp_path / "warmfront-image", tmp_path / "rocm-7.2.4", tmp_path / "warmfront"
    for folder in (rocm / "bin", shared, image / "cache" / "rocm-guest"):
        folder.mkdir(parents=True)
    (tmp_path / "rocm").symlink_to(rocm)
    (image / "requirements.txt").write_text("numpy==1 --hash=sha256:0\n")
    (image / "cache" / "rocm-guest" / "guest").write_text("the guest")
    for _ in range(2):
        done = _prepare(tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        path, docker_image, image_dirs, boxes = done.stdout.splitlines()
        assert path.startswith(f"{image}/venv/bin:{tmp_path}/rocm/bin:")
        assert (docker_image, image_dirs, boxes) == ("worker:1", f"{rocm}:{image}", "/dev/shm/warmfront")  # noqa: S108 - of the VM
    assert [path.name for path in shared.iterdir()] == ["cache"]
    assert (shared / "cache" / "rocm-guest" / "guest").read_text() == "the guest"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("Dockerfile")), ids=lambda path: path.parent.name)
def test_dockerfile_is_pinned_and_copies_existing_files(path: Path) -> None:
    """Base images have to be given by the build, packages need hashes, and copied files exist."""
    text = path.read_text().replace("\\\n", " ")
    images = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert images
    # Without a default: a build without the image or its digest fails.
    assert all(re.fullmatch(r"\$\{(\w+_IMAGE)\}|[\w/.:-]+@\$\{(\w+_DIGEST)\}", image) for image in images)
    arguments = {name for image in images for name in re.findall(r"\$\{(\w+)\}", image)}
    assert all(re.search(rf"^ARG {name}$", text, re.MULTILINE) for name in arguments)
    installs = [line for line in text.splitlines() if "pip install" in line and not line.startswith("#")]
    # Either every file has a known hash, or nothing is downloaded at all.
    assert all(
        "--require-hashes" in line or ("--no-deps" in line and "--no-index" in line) for line in installs
    )
    if path.parent.name == "vm":
        return  # its context is made by `warmfront image build`, which test_vm_image.py tests
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    assert not [source for source in sources if not (ROOT / source).exists()]
    included = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert not [
        source for source in sources if source.split("/")[0] not in included and source not in included
    ]


def test_compose_file_and_systemd_unit_set_known_variables() -> None:
    """The variables are known settings with valid values, and published ports are on loopback."""
    ours = {setting_variables.VARIABLES[field.name][0] for field in fields(settings.Settings)}
    service = _compose()["services"]["service"]
    assert set(service["environment"]) <= ours
    in_container = {**service["environment"], "DSTACK_SERVER_URL": "http://dstack:3000"}
    assert settings.load(in_container, env_file=None).provider == "dstack"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read(DEPLOY / "warmfront.service")
    assert unit["Service"]["ExecStart"].endswith("/warmfront serve")
    variables = re.findall(r"(WARMFRONT_\w+)=(\S+)", (DEPLOY / "warmfront.service").read_text())
    assert {name for name, _ in variables} <= ours
    assert settings.load(dict(variables), env_file=None).provider == "dstack"


def test_compose_file_reaches_its_dstack_server() -> None:
    """The address in the service's container is that of the server's container, unless another one is set."""
    services = _compose()["services"]
    server = services["dstack"]
    port = server["environment"]["DSTACK_SERVER_PORT"]
    address = f"http://dstack:{port}"
    assert services["service"]["environment"]["DSTACK_SERVER_URL"] == (
        f"${{COMPOSE_DSTACK_SERVER_URL:-{address}}}"
    )
    assert server["environment"]["DSTACK_SERVER_HOST"] == "0.0.0.0"  # noqa: S104 - inside the container
    assert [published.rpartition(":")[2] for published in server["ports"]] == [port]
    assert "dstack" in services["service"]["depends_on"]


@pytest.mark.parametrize(
    ("file", "environ", "kind"),
    [
        (None, {}, "run"),
        (None, {"WARMFRONT_PROVIDER": "dstack"}, "dstack-client"),
        ("WARMFRONT_PROVIDER=dstack\n", {}, "dstack-client"),
        ("export WARMFRONT_PROVIDER='dstack' # VMs\n", {}, "dstack-client"),
        ("WARMFRONT_PROVIDER=dstack\nWARMFRONT_PROVIDER=local\n", {}, "run"),
        ("WARMFRONT_PROVIDER=dstack\n", {"WARMFRONT_PROVIDER": "local"}, "run"),
    ],
)
def test_make_serve_installs_what_the_provider_needs(
    tmp_path: Path, file: str | None, environ: dict[str, str], kind: str
) -> None:
    """The provider is read from the environment, then from `.env`; each kind has its file with hashes."""
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "provider-setup"
    script.write_bytes((ROOT / "scripts" / "provider-setup").read_bytes())
    if file is not None:
        (tmp_path / ".env").write_text(file)
    done = subprocess.run(
        ["bash", script],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{kind}\n"
    locked = {"run": "run.txt", "dstack-client": "service.txt"}[kind]
    text = (ROOT / "requirements" / locked).read_text()
    assert ("\ndstack==" in text, "--hash=sha256:" in text) == (kind == "dstack-client", True)


def test_compose_file_uses_the_tested_dstack_version() -> None:
    """The server's version equals that of the installed client.

    Its digest is required only if the server is used. Compose demands a variable with `:?` even if the
    profile that uses it is not active, as with dstack Sky.
    """
    server = _compose()["services"]["dstack"]
    image = f"dstackai/dstack:{importlib.metadata.version('dstack')}"
    assert server["image"] == f"{image}@${{DSTACK_DIGEST:-set-DSTACK_DIGEST-in-.env}}"
    assert "DSTACK_DIGEST:?" not in (DEPLOY / "compose.yaml").read_text()


def test_compose_file_does_not_replace_a_missing_server_configuration_by_a_directory() -> None:
    """Docker would create a directory with its name, which dstack cannot read."""
    [configured, _] = _compose()["services"]["dstack"]["volumes"]
    assert configured["target"] == "/root/.dstack/server/config.yml"
    assert configured["bind"]["create_host_path"] is False


def _compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return content


def test_several_backends_and_regions() -> None:
    """Fleet and tasks name all of them, so that dstack tries their offers in order of price."""
    environ = {
        "AMD_BACKEND": "amddevcloud, hotaisle",
        "AMD_REGION": "atl1,nyc2",
        "DSTACK_AMDDEVCLOUD_API_KEY": "a",
        "DSTACK_HOTAISLE_API_KEY": "b",
        "DSTACK_HOTAISLE_TEAM": "c",
    }
    both = settings.load(environ, env_file=None)
    for kind in ("fleet", "worker"):
        configured = configuration.example_configuration(kind, both)
        assert configured["backends"] == ["amddevcloud", "hotaisle"]
        assert configured["regions"] == ["atl1", "nyc2"]
    (project,) = backends.server_configuration(both)["projects"]
    assert [backend["type"] for backend in project["backends"]] == ["amddevcloud", "hotaisle"]
    with pytest.raises(BadSetting, match="AMD_MINIMUM_RESERVATION"):
        configuration.minimum_reservation_s(both)
    assert "regions" not in configuration.example_configuration("fleet", OURS)
