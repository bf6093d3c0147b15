"""Settings are read from the environment and `.env`; an invalid one is reported by name."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import pytest

from warmfront import setting_variables, settings
from warmfront.errors import BadSetting
from warmfront.sandbox.base import machine_memory_bytes

ROOT = Path(__file__).parent.parent.parent


def test_defaults_are_the_documented_ones() -> None:
    """With nothing set, a sandbox has 16 GB, 4 CPUs and isolation."""
    loaded = settings.load({}, env_file=None)
    assert loaded.isolation is True
    assert loaded.memory_bytes == 16 * 1024**3
    assert loaded.cpus == 4.0


@pytest.mark.parametrize(
    ("text", "size"),
    [("16GB", 16 * 1024**3), ("512mb", 512 * 1024**2), ("1.5 GiB", 3 * 1024**3 // 2), ("4096", 4096)],
)
def test_sizes_have_units(text: str, size: int) -> None:
    """A size is a number with a unit, in any case, or plain bytes."""
    assert settings.load({"AMD_CONTAINER_MEMORY_LIMIT": text}, env_file=None).memory_bytes == size


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AMD_CONTAINER_ISOLATION", "maybe"),
        ("AMD_CONTAINER_MEMORY_LIMIT", "lots"),
        ("AMD_CONTAINER_MEMORY_LIMIT", "0GB"),
        ("AMD_CONTAINER_CPU_LIMIT", "-1"),
        ("AMD_CONTAINER_CPU_LIMIT", "nan"),
        ("WARMFRONT_PIDS_LIMIT", "0"),
        ("WARMFRONT_CASE_TIMEOUT", "soon"),
        ("WARMFRONT_SANDBOX", "chroot"),
        ("WARMFRONT_PROVIDER", "aws"),
        ("WARMFRONT_PORT", "70000"),
        ("WARMFRONT_PORT", "http"),
        ("WARMFRONT_DATABASE_URL", "mysql://host/name"),
        ("WARMFRONT_DATABASE_URL", "postgresql"),
        ("WARMFRONT_ALERT_WEBHOOK", "ftp://host"),
        ("WARMFRONT_REHEARSE", "perhaps"),
        ("WARMFRONT_REHEARSE_BOOT", "0"),
        ("AMD_VM_IDLE_TIMEOUT", "-600"),
        ("AMD_VM_IDLE_TIMEOUT", "10m"),
        ("AMD_VM_MAX_CONCURRENT", "0"),
        ("AMD_VM_MAX_CONCURRENT", "2.5"),
        ("AMD_DEFAULT_GPU", "H100"),
        ("AMD_MI300X_HOURLY_RATE", "-1.99"),
        ("AMD_MI300X_HOURLY_RATE", "1e3"),
        ("AMD_GRANT_CREDITS_TOTAL", "NaN"),
        ("AMD_GRANT_CREDITS_TOTAL", "1,400"),
        ("AMD_COST_ALERT_THRESHOLD", "80%"),
        ("AMD_COST_ALERT_THRESHOLD", "0"),
        ("AMD_COST_ALERT_THRESHOLD", "1.5"),
        ("WARMFRONT_DEAD_MAN", "inf"),
        ("WARMFRONT_DEVICE", "qemu"),
        ("WARMFRONT_SLOTS", "0"),
        ("WARMFRONT_RUN_CPUS", "3-1"),
        ("WARMFRONT_COMPILE_CPUS", "all"),
        ("WARMFRONT_DAILY_SUBMISSIONS", "-1"),
        ("WARMFRONT_DAILY_BUDGET", "a lot"),
    ],
)
def test_an_invalid_value_is_reported(variable: str, value: str) -> None:
    """The error names the variable, the value, and what is allowed."""
    with pytest.raises(BadSetting) as caught:
        settings.load({variable: value}, env_file=None)
    assert variable in caught.value.message
    assert repr(value) in caught.value.message
    assert caught.value.hint


def test_the_environment_overrides_the_env_file(tmp_path: Path) -> None:
    """`.env` may have comments and quotes; the environment overrides it."""
    file = tmp_path / ".env"
    file.write_text("# limits\nAMD_CONTAINER_CPU_LIMIT='2'\nexport WARMFRONT_PIDS_LIMIT = 33\n")
    loaded = settings.load({"WARMFRONT_PIDS_LIMIT": "44"}, env_file=file)
    assert loaded.cpus == 2.0
    assert loaded.pids == 44


def test_a_sandbox_never_gets_all_memory() -> None:
    """A limit above three quarters of the machine's memory is lowered to that."""
    loaded = settings.load({"AMD_CONTAINER_MEMORY_LIMIT": "1000TB"}, env_file=None)
    assert loaded.run_limits().memory_bytes == machine_memory_bytes() * 3 // 4


def test_an_empty_variable_means_the_default() -> None:
    """A blank value does not override the default."""
    assert settings.load({"AMD_CONTAINER_CPU_LIMIT": " "}, env_file=None).cpus == 4.0


def test_the_service_has_the_documented_defaults() -> None:
    """The defaults are loopback, port 3000, three VMs, ten minutes of idle time and 1,400 dollars."""
    loaded = settings.load({}, env_file=None)
    assert (loaded.provider, loaded.host, loaded.port) == ("local", "127.0.0.1", 3000)
    assert (loaded.idle_timeout_s, loaded.max_vms, loaded.default_gpu) == (600.0, 3, "MI300X")
    assert (loaded.rate_usd_per_h, loaded.credits_usd) == (Decimal("1.99"), Decimal("1400.00"))
    assert (loaded.alert_threshold, loaded.rehearse) == (Decimal("0.8"), False)
    assert loaded.database_url is None


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("AMD_MI300X_HOURLY_RATE", "$2.10", "rate_usd_per_h", Decimal("2.10")),
        ("AMD_GRANT_CREDITS_TOTAL", "0.1", "credits_usd", Decimal("0.1")),
        ("AMD_COST_ALERT_THRESHOLD", "1", "alert_threshold", Decimal(1)),
        ("AMD_VM_IDLE_TIMEOUT", "2.5", "idle_timeout_s", 2.5),
        ("WARMFRONT_DAILY_BUDGET", "5", "daily_budget_usd", Decimal(5)),
        ("WARMFRONT_PORT", "0", "port", 0),
        ("WARMFRONT_REHEARSE", "TRUE", "rehearse", True),
        (
            "WARMFRONT_DATABASE_URL",
            "postgresql://me@db/warmfront",
            "database_url",
            "postgresql://me@db/warmfront",
        ),
        ("WARMFRONT_DATA_DIR", "/srv/warmfront", "data_dir", Path("/srv/warmfront")),
    ],
)
def test_the_variables_of_the_service_are_read(variable: str, text: str, field: str, value: object) -> None:
    """Amounts are exact decimals, and addresses are unchanged."""
    assert getattr(settings.load({variable: text}, env_file=None), field) == value


def test_a_remote_judge_gets_the_same_settings() -> None:
    """Loading the variables that are sent to a VM restores the settings."""
    ours = replace(
        settings.load({}, env_file=None),
        memory_bytes=768 * 1024**2,
        cpus=1.5,
        bug_finder=False,
        sandbox="bubblewrap",
        box_dir=Path("/srv/boxes"),
        task_timeout_s=90.0,
    )
    assert settings.load(ours.judge_environ(), env_file=None) == ours


def test_no_secret_is_sent_to_a_vm() -> None:
    """The variables for a VM include neither the database's address nor its password."""
    ours = replace(settings.load({}, env_file=None), database_url="postgresql://me:word@db/x", port=1234)
    assert not [value for value in ours.judge_environ().values() if "word" in value or value == "1234"]


@pytest.mark.parametrize("page", ["docs/settings.md", ".env.example"])
def test_every_variable_is_documented(page: str) -> None:
    """docs/settings.md and .env.example have all variables."""
    text = (ROOT / page).read_text()
    variables = [setting_variables.VARIABLES[field.name][0] for field in fields(settings.Settings)]
    assert len(variables) > 30
    assert not [variable for variable in variables if variable not in text]


def test_the_example_file_has_the_defaults() -> None:
    """Every value in .env.example is valid and equals the default."""
    example = ROOT / ".env.example"
    assert settings.load({}, env_file=example) == settings.load({}, env_file=None)
    uncommented = "\n".join(line.removeprefix("#") for line in example.read_text().splitlines())
    pairs = dict(line.split("=", 1) for line in uncommented.splitlines() if "=" in line.split(" ")[0])
    assert settings.load(pairs, env_file=None) == settings.load({}, env_file=None)


def test_the_settings_page_has_the_defaults() -> None:
    """Every default that docs/settings.md states as a value equals the real one."""
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    assert len(rows) > 25
    assert settings.load(dict(rows), env_file=None) == settings.load({}, env_file=None)


def test_the_default_gpu_must_be_one_of_the_gpu_types() -> None:
    """AMD_DEFAULT_GPU names a GPU type that submissions may request."""
    given = {"AMD_DEFAULT_GPU": "MI325X"}
    with pytest.raises(BadSetting, match="AMD_DEFAULT_GPU is 'MI325X'; allowed: a GPU type of AMD_GPU_TYPE"):
        settings.load(given, env_file=None)
    assert settings.load({**given, "AMD_GPU_TYPE": "MI300X, MI325X"}, env_file=None).gpu_types == (
        "MI300X",
        "MI325X",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"AMD_CPU_FLEET_NAME": "fleet-1", "AMD_FLEET_NAME": "fleet-1"},
            "AMD_CPU_FLEET_NAME is 'fleet-1', which is also the value of AMD_FLEET_NAME.",
        ),
        (
            {
                "AMD_CPU_FLEET_NAME": "cpu-nodes",
                "WARMFRONT_PROVIDER": "dstack",
                "WARMFRONT_DSTACK_MODE": "direct",
            },
            "AMD_CPU_FLEET_NAME is 'cpu-nodes', but CPU nodes require WARMFRONT_DSTACK_MODE=pool.",
        ),
    ],
)
def test_a_fleet_of_cpu_nodes_must_fit_the_other_settings(given: dict[str, str], message: str) -> None:
    """It is not the fleet of the other VMs, and direct mode does not have one."""
    with pytest.raises(BadSetting) as caught:
        settings.load(given, env_file=None)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_partition_costs_its_part_of_the_card() -> None:
    """The rate of a partition follows from the operator's rate of the card."""
    configured = settings.load({"AMD_MI300X_HOURLY_RATE": "2.00"}, env_file=None)
    assert configured.gpu_rate_usd_per_h("MI300X-CPX-NPS4") == Decimal("0.25")
