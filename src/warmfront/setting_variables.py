"""The variables of the settings: their names, their parsers and the values that they allow.

`warmfront.settings` has the fields, their defaults and the checks between them. Every command loads this
module, so it imports no slow modules.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from warmfront import gpus, values
from warmfront.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_log = logging.getLogger(__name__)

_SIZE = "a size such as 512MB or 16GB"
_SECONDS = "a number of seconds above 0"
_DOLLARS = "dollars such as 1.99"

#: Former variables of SSH fleets, and those that replace them.
FORMER_VARIABLES = {
    "AMD_DEVCLOUD_SSH_USER": "AMD_FLEET_SSH_USER",
    "AMD_DEVCLOUD_SSH_KEY_PATH": "AMD_FLEET_SSH_KEY",
    "AMD_DEVCLOUD_HOSTS": "AMD_FLEET_HOSTS",
}
#: Alternative names of variables.
_ALIASES = {"DSTACK_BACKEND": "AMD_BACKEND"}

_GPU_NAMES = tuple(gpu.name for gpu in gpus.CATALOG)

#: The variable, the parser and a description of the allowed values, by field.
VARIABLES: dict[str, tuple[str, Callable[[str], object], str]] = {
    "isolation": ("AMD_CONTAINER_ISOLATION", values.boolean, "true or false"),
    "memory_bytes": ("AMD_CONTAINER_MEMORY_LIMIT", values.size, _SIZE),
    "cpus": ("AMD_CONTAINER_CPU_LIMIT", values.positive, "a number of CPUs above 0"),
    "pids": ("WARMFRONT_PIDS_LIMIT", values.count, "a whole number from 1"),
    "file_bytes": ("WARMFRONT_FILE_SIZE_LIMIT", values.size, _SIZE),
    "library_bytes": ("WARMFRONT_LIBRARY_SIZE_LIMIT", values.size, _SIZE),
    "output_bytes": ("WARMFRONT_OUTPUT_LIMIT", values.size, _SIZE),
    "compile_timeout_s": ("WARMFRONT_COMPILE_TIMEOUT", values.positive, _SECONDS),
    "compile_memory_bytes": ("WARMFRONT_COMPILE_MEMORY_LIMIT", values.size, _SIZE),
    "case_timeout_s": ("WARMFRONT_CASE_TIMEOUT", values.positive, _SECONDS),
    "run_timeout_s": ("WARMFRONT_RUN_TIMEOUT", values.positive, _SECONDS),
    "bench_budget_s": ("WARMFRONT_BENCH_BUDGET", values.positive, _SECONDS),
    "xray": ("WARMFRONT_XRAY", values.boolean, "true or false"),
    "xray_timeout_s": ("WARMFRONT_XRAY_TIMEOUT", values.positive, _SECONDS),
    "bug_finder": ("WARMFRONT_BUG_FINDER", values.boolean, "true or false"),
    "bug_finder_memory_bytes": ("WARMFRONT_BUG_FINDER_MEMORY_LIMIT", values.size, _SIZE),
    "cache_dir": ("WARMFRONT_CACHE_DIR", values.directory, "a directory"),
    "box_dir": ("WARMFRONT_BOX_DIR", values.directory, "a directory"),
    "docker_image": ("WARMFRONT_DOCKER_IMAGE", str, "an image name"),
    "docker_image_dirs": (
        "WARMFRONT_DOCKER_IMAGE_DIRS",
        values.directories,
        "directories, separated by colons",
    ),
    "stub_gpu": ("WARMFRONT_STUB_GPU", str, "parameters such as copy_gbps=10,fault=hang"),
    "sandbox": ("WARMFRONT_SANDBOX", values.one_of("bubblewrap", "docker"), "bubblewrap or docker"),
    "check_gpu": ("WARMFRONT_CHECK_GPU", values.boolean, "true or false"),
    "rocm_device": ("WARMFRONT_DEVICE", values.one_of("gpu", "rocjitsu"), "gpu or rocjitsu"),
    "rocjitsu": ("WARMFRONT_ROCJITSU", values.directory, "a directory"),
    "rocjitsu_config": ("WARMFRONT_ROCJITSU_CONFIG", values.directory, "a file"),
    "slots": ("WARMFRONT_SLOTS", values.count, "a whole number from 1"),
    "run_cpu_set": ("WARMFRONT_RUN_CPUS", values.cpu_set, "CPUs of this machine such as 0-3,8"),
    "compile_cpu_set": ("WARMFRONT_COMPILE_CPUS", values.cpu_set, "CPUs of this machine such as 0-3,8"),
    "provider": ("WARMFRONT_PROVIDER", values.one_of("local", "dstack"), "local or dstack"),
    "host": ("WARMFRONT_HOST", str, "an address of this machine"),
    "port": ("WARMFRONT_PORT", values.port, "a port from 0 to 65535"),
    "public_url": (
        "WARMFRONT_PUBLIC_URL",
        values.secure_url,
        "an https:// address, or an http:// address of this machine",
    ),
    "oidc_issuer": (
        "WARMFRONT_OIDC_ISSUER",
        values.issuer,
        "github, google, or the https:// address of an OpenID Connect issuer",
    ),
    "oidc_client_id": ("WARMFRONT_OIDC_CLIENT_ID", str, "the id of a client at the issuer"),
    "oidc_client_secret": ("WARMFRONT_OIDC_CLIENT_SECRET", str, "the secret of the client"),
    "oidc_name": ("WARMFRONT_OIDC_NAME", values.matching(r".{1,40}"), "a name of up to 40 characters"),
    "admins": ("WARMFRONT_ADMINS", values.people, "e-mail addresses or subjects, separated by commas"),
    "sign_up": (
        "WARMFRONT_SIGN_UP",
        values.one_of("invited", "reader", "author"),
        "invited, reader or author",
    ),
    "session_s": (
        "WARMFRONT_SESSION_DURATION",
        values.duration(60, 90 * 86400),
        "a duration from 1m to 90d, such as 7d",
    ),
    "data_dir": ("WARMFRONT_DATA_DIR", values.directory, "a directory"),
    "min_free_disk_bytes": ("WARMFRONT_MIN_FREE_DISK", values.size, _SIZE),
    "database_url": (
        "WARMFRONT_DATABASE_URL",
        values.url("postgresql", "sqlite"),
        "an address such as postgresql://user@host/name or sqlite:////path/to/file.db",
    ),
    "standby": ("WARMFRONT_STANDBY", values.boolean, "true or false"),
    "lock_timeout_s": ("WARMFRONT_LOCK_TIMEOUT", values.lock_timeout, "a number of seconds from 4 to 3600"),
    "alert_webhook": (
        "WARMFRONT_ALERT_WEBHOOK",
        values.url("http", "https"),
        "an http:// or https:// address",
    ),
    "alert_slack_webhook": (
        "WARMFRONT_ALERT_SLACK_WEBHOOK",
        values.url("http", "https"),
        "an http:// or https:// address",
    ),
    "alert_email_to": ("WARMFRONT_ALERT_EMAIL_TO", values.addresses, "e-mail addresses, separated by commas"),
    "alert_email_from": ("WARMFRONT_ALERT_EMAIL_FROM", values.addresses, "an e-mail address"),
    "smtp_url": (
        "WARMFRONT_SMTP_URL",
        values.url("smtp", "smtps"),
        "an address such as smtps://user:password@mail.example",
    ),
    "alert_burn_usd_per_h": ("WARMFRONT_ALERT_BURN_RATE", values.dollars, _DOLLARS),
    "alert_idle_s": ("WARMFRONT_ALERT_IDLE", values.positive, _SECONDS),
    "alert_queue_wait_s": ("WARMFRONT_ALERT_QUEUE_WAIT", values.positive, _SECONDS),
    "alert_provider_errors": ("WARMFRONT_ALERT_PROVIDER_ERRORS", values.count, "a whole number from 1"),
    "otlp_endpoint": (
        "WARMFRONT_OTLP_ENDPOINT",
        values.url("http", "https"),
        "an http:// or https:// address",
    ),
    "rehearse": ("WARMFRONT_REHEARSE", values.boolean, "true or false"),
    "rehearse_boot_s": ("WARMFRONT_REHEARSE_BOOT", values.positive, _SECONDS),
    "idle_timeout_s": ("AMD_VM_IDLE_TIMEOUT", values.positive, _SECONDS),
    "idle_timeout_max_s": ("AMD_VM_IDLE_TIMEOUT_MAX", values.positive, _SECONDS),
    "keep_warm": ("WARMFRONT_KEEP_WARM", values.one_of("fixed", "adaptive"), "fixed or adaptive"),
    "wait_value_usd_per_h": (
        "WARMFRONT_WAIT_VALUE_USD_PER_HOUR",
        values.wait_value,
        f"dollars per hour from 0 to {values.MAX_WAIT_VALUE:,}",
    ),
    "max_vms": ("AMD_VM_MAX_CONCURRENT", values.count, "a whole number from 1"),
    "default_gpu": ("AMD_DEFAULT_GPU", values.one_of(*_GPU_NAMES), f"one of {', '.join(_GPU_NAMES)}"),
    "judge_gpu": ("WARMFRONT_GPU", values.one_of(*_GPU_NAMES), f"one of {', '.join(_GPU_NAMES)}"),
    "rate_usd_per_h": ("AMD_MI300X_HOURLY_RATE", values.dollars, _DOLLARS),
    "mi325x_rate_usd_per_h": ("AMD_MI325X_HOURLY_RATE", values.dollars, _DOLLARS),
    "host_rate_usd_per_h": ("AMD_HOST_HOURLY_RATE", values.dollars, _DOLLARS),
    "gpu_counts": (
        "AMD_VM_GPUS",
        values.gpu_counts,
        f"whole numbers from 1 to {values.MAX_GPUS}, separated by commas, such as 1,8",
    ),
    "gpu_count_rates": (
        "AMD_VM_GPU_RATES",
        values.gpu_count_rates,
        "dollars per hour by number of GPUs, such as 8:15.92",
    ),
    "minimum_reservation_s": (
        "AMD_MINIMUM_RESERVATION",
        values.duration(0, 31 * 86400),
        "a duration from 0s to 31d, such as 4h",
    ),
    "credits_usd": ("AMD_GRANT_CREDITS_TOTAL", values.dollars, _DOLLARS),
    "alert_threshold": (
        "AMD_COST_ALERT_THRESHOLD",
        values.share,
        "a share above 0 and at most 1, such as 0.8",
    ),
    "provision_timeout_s": ("WARMFRONT_PROVISION_TIMEOUT", values.positive, _SECONDS),
    "task_timeout_s": ("WARMFRONT_TASK_TIMEOUT", values.positive, _SECONDS),
    "stop_lag_s": ("WARMFRONT_STOP_LAG", values.positive, _SECONDS),
    "heartbeat_s": ("WARMFRONT_HEARTBEAT", values.positive, _SECONDS),
    "lost_after_s": ("WARMFRONT_LOST_AFTER", values.positive, _SECONDS),
    "watchdog_s": ("WARMFRONT_DEAD_MAN", values.positive, _SECONDS),
    "rate_limit_per_min": ("WARMFRONT_RATE_LIMIT", values.count, "a whole number from 1"),
    "daily_submissions": ("WARMFRONT_DAILY_SUBMISSIONS", values.count, "a whole number from 1"),
    "max_connections": ("WARMFRONT_MAX_CONNECTIONS", values.count, "a whole number from 1"),
    "max_connections_per_address": (
        "WARMFRONT_MAX_CONNECTIONS_PER_ADDRESS",
        values.count,
        "a whole number from 1",
    ),
    "request_head_timeout_s": ("WARMFRONT_REQUEST_HEAD_TIMEOUT", values.positive, _SECONDS),
    "request_body_timeout_s": ("WARMFRONT_REQUEST_BODY_TIMEOUT", values.positive, _SECONDS),
    "streams_per_user": ("WARMFRONT_STREAMS_PER_USER", values.count, "a whole number from 1"),
    "daily_budget_usd": ("WARMFRONT_DAILY_BUDGET", values.dollars, _DOLLARS),
    "team_daily_budget_usd": ("WARMFRONT_TEAM_DAILY_BUDGET", values.dollars, _DOLLARS),
    "total_daily_budget_usd": ("WARMFRONT_TOTAL_DAILY_BUDGET", values.dollars, _DOLLARS),
    "dstack_url": ("DSTACK_SERVER_URL", values.url("http", "https"), "an http:// or https:// address"),
    "dstack_token": ("DSTACK_TOKEN", str, "a token of the dstack server"),
    "dstack_project": (
        "DSTACK_PROJECT",
        values.matching(r"[A-Za-z0-9_-]{1,50}"),
        "the name of a dstack project",
    ),
    "dstack_mode": ("WARMFRONT_DSTACK_MODE", values.one_of("pool", "direct"), "pool or direct"),
    "devcloud_api_key": ("DSTACK_AMDDEVCLOUD_API_KEY", str, "a key of AMD Developer Cloud"),
    "digitalocean_api_key": ("DSTACK_DIGITALOCEAN_API_KEY", str, "a key of DigitalOcean"),
    "hotaisle_api_key": ("DSTACK_HOTAISLE_API_KEY", str, "a key of Hot Aisle"),
    "kubeconfig": ("DSTACK_KUBECONFIG", values.directory, "a kubeconfig file"),
    "kubernetes_node": (
        "DSTACK_KUBERNETES_NODE",
        values.node_address,
        "the address of a node and a port such as 203.0.113.7:32000",
    ),
    "devcloud_read_key": ("WARMFRONT_AMDDEVCLOUD_READ_KEY", str, "a key of AMD Developer Cloud"),
    "hotaisle_read_key": ("WARMFRONT_HOTAISLE_READ_KEY", str, "a key of Hot Aisle"),
    "hotaisle_team": ("DSTACK_HOTAISLE_TEAM", str, "the handle of a team in Hot Aisle"),
    "backend": (
        "AMD_BACKEND",
        values.matching(r"[a-z][a-z0-9-]{1,30}( *, *[a-z][a-z0-9-]{1,30})*"),
        "dstack backends such as hotaisle or amddevcloud,hotaisle",
    ),
    "region": (
        "AMD_REGION",
        values.matching(r"[A-Za-z0-9_-]+( *, *[A-Za-z0-9_-]+)*"),
        "regions such as atl1 or atl1,nyc2",
    ),
    "fleet_name": (
        "AMD_FLEET_NAME",
        values.matching(r"[a-z][a-z0-9-]{1,40}"),
        "2 to 41 lower-case letters, digits and -, starting with a letter",
    ),
    "fleet_max_nodes": ("AMD_FLEET_MAX_NODES", values.nodes, f"a whole number from 1 to {values.MAX_NODES}"),
    "fleet_hosts": (
        "AMD_FLEET_HOSTS",
        values.ssh_addresses,
        "different hosts such as 10.0.0.11 or 10.0.0.11,root@gpu2.example:2222",
    ),
    "fleet_ssh_user": (
        "AMD_FLEET_SSH_USER",
        values.matching(r"[A-Za-z_][A-Za-z0-9_.-]*"),
        "the name of a user on the hosts",
    ),
    "fleet_ssh_key": ("AMD_FLEET_SSH_KEY", values.directory, "a file with a private key"),
    "fleet_jump_host": (
        "AMD_FLEET_JUMP_HOST",
        values.ssh_address,
        "an SSH server such as me@gateway.example or me@gateway.example:2222",
    ),
    "fleet_idle_s": (
        "AMD_FLEET_IDLE_DURATION",
        values.duration(0, 86400),
        "a duration from 0s to 1d, such as 90s, 10m or 2h",
    ),
    "fleet_dry_run": ("AMD_FLEET_DRY_RUN", values.boolean, "true or false"),
    "cpu_fleet_name": (
        "AMD_CPU_FLEET_NAME",
        values.matching(r"[a-z][a-z0-9-]{1,40}"),
        "2 to 41 lower-case letters, digits and -, starting with a letter",
    ),
    "cpu_max_nodes": (
        "AMD_CPU_FLEET_MAX_NODES",
        values.nodes,
        f"a whole number from 1 to {values.MAX_NODES}",
    ),
    "cpu_backend": (
        "AMD_CPU_BACKEND",
        values.matching(r"[a-z][a-z0-9-]{1,30}( *, *[a-z][a-z0-9-]{1,30})*"),
        "dstack backends such as digitalocean or amddevcloud,digitalocean",
    ),
    "cpu_cores": ("AMD_CPU_CORES", values.count, "a whole number from 1"),
    "cpu_memory": ("AMD_CPU_MEMORY", values.matching(r"[1-9]\d{0,3}GB"), "a memory size in GB, such as 8GB"),
    "cpu_disk": ("AMD_CPU_DISK", values.matching(r"[1-9]\d{0,4}GB"), "a disk size in GB, such as 50GB"),
    "cpu_image": (
        "AMD_CPU_IMAGE",
        values.image,
        "an image with a digest, name:tag@sha256:..., or with a tag that is not latest",
    ),
    "cpu_slots": ("AMD_CPU_SLOTS", values.count, "a whole number from 1"),
    "cpu_rate_usd_per_h": ("AMD_CPU_HOURLY_RATE", values.dollars, _DOLLARS),
    "cpu_idle_timeout_s": ("AMD_CPU_IDLE_TIMEOUT", values.positive, _SECONDS),
    "gpu_type": (
        "AMD_GPU_TYPE",
        values.matching(r"[A-Za-z0-9_-]+( *, *[A-Za-z0-9_-]+)*"),
        "GPU types such as MI300X or MI300X,MI325X",
    ),
    "gpu_memory": (
        "AMD_GPU_MEMORY",
        values.matching(r"[1-9]\d{0,3}GB"),
        "a memory size in GB, such as 192GB",
    ),
    "spot_policy": (
        "AMD_SPOT_POLICY",
        values.one_of("auto", "spot", "on-demand"),
        "auto, spot or on-demand",
    ),
    "spot_price_ratio": ("AMD_SPOT_PRICE_RATIO", values.share, "a number above 0 and at most 1"),
    "spot_interruptions_per_h": (
        "AMD_SPOT_INTERRUPTIONS_PER_HOUR",
        values.interruptions_per_h,
        f"a number from 0 to {values.MAX_INTERRUPTIONS_PER_H}",
    ),
    "vm_max_s": (
        "AMD_VM_MAX_DURATION",
        values.duration(300, 30 * 86400),
        "a duration from 5m to 30d, such as 12h",
    ),
    "worker_image": (
        "WARMFRONT_WORKER_IMAGE",
        values.image,
        "an image with a digest, name:tag@sha256:..., or with a tag that is not latest",
    ),
    "worker_toolchain": (
        "WARMFRONT_WORKER_TOOLCHAIN",
        values.one_of("rocm", "cpu", "stub"),
        "rocm, cpu or stub",
    ),
    "require_digests": ("WARMFRONT_REQUIRE_DIGESTS", values.boolean, "true or false"),
    "image_repository": (
        "WARMFRONT_IMAGE_REPOSITORY",
        values.matching(r"[a-z0-9][a-z0-9._-]*(:\d+)?(/[a-z0-9][a-z0-9._-]*)+"),
        "a repository without a tag, such as ghcr.io/me/warmfront-vm",
    ),
    "registry_username": ("WARMFRONT_REGISTRY_USERNAME", str, "a user of the registry"),
    "registry_password": ("WARMFRONT_REGISTRY_PASSWORD", str, "a password or token of the registry"),
}

#: The fields that a judge needs; they are sent to VMs.
JUDGE_FIELDS = (
    *(
        "isolation",
        "memory_bytes",
        "cpus",
        "pids",
        "file_bytes",
        "library_bytes",
        "output_bytes",
        "compile_timeout_s",
    ),
    *("compile_memory_bytes", "case_timeout_s", "run_timeout_s", "bench_budget_s", "xray", "bug_finder"),
    *("bug_finder_memory_bytes", "cache_dir", "box_dir", "docker_image", "sandbox", "task_timeout_s"),
    *("check_gpu", "stub_gpu"),
)


def read_variables(environ: Mapping[str, str], env_file: Path | None) -> dict[str, str]:
    """Return the variables of the environment and, where it does not set them, of `.env`.

    Raises:
        BadSetting: A variable and its alias have different values.
    """
    texts = _resolve_aliases({**_read_env_file(env_file), **environ})
    for variable in sorted(
        FORMER_VARIABLES.keys() & {name for name, value in texts.items() if value.strip()}
    ):
        _log.warning("%s has no effect; use %s instead", variable, FORMER_VARIABLES[variable])
    return texts


def parse(field: str, text: str, name: str) -> object:
    """Return the value of a field.

    Args:
        field: The field of `Settings`.
        text: The text to parse.
        name: The variable or option that the text is from, for the message.

    Raises:
        BadSetting: The text is not an allowed value.
    """
    _, parse_text, allowed = VARIABLES[field]
    try:
        return parse_text(text.strip())
    except ValueError:
        raise BadSetting(
            f"{name} is {text!r}; allowed: {allowed}.",
            hint=f"Set {name} to {allowed}, or unset it.",
        ) from None


def _resolve_aliases(texts: dict[str, str]) -> dict[str, str]:
    """Move values of aliases to the main names. Two different values are an error."""
    for other, ours in _ALIASES.items():
        given, text = texts.get(ours, "").strip(), texts.get(other, "").strip()
        if given and text and given != text:
            raise BadSetting(
                f"{ours} is {given!r}, but its alias {other} is {text!r}.",
                hint=f"Unset {other}.",
            )
        texts[ours] = given or text
    return texts


def _read_env_file(path: Path | None) -> dict[str, str]:
    """Read `NAME=value` lines; skip lines that start with #, and strip quotes around values."""
    if path is None or not path.is_file():
        return {}
    pairs = re.findall(
        r"^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$", path.read_text(), re.MULTILINE
    )
    return {name: value.strip("\"'") for name, value in pairs}
