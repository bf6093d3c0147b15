"""All settings in one class, read from the environment and `.env`, and validated before anything starts.

`setting_variables.py` has the variables and their parsers.

It is a plain dataclass, because every `warmfront run` loads this module, and validation libraries are slow to
import.
"""

from __future__ import annotations

import os
from dataclasses import field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus, values
from warmfront.errors import BadSetting
from warmfront.sandbox.base import WALL_S_PER_CPU_S, SandboxLimits, machine_memory_bytes
from warmfront.setting_variables import JUDGE_FIELDS, VARIABLES, parse, read_variables
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

GIB = 1024**3
MIB = 1024**2
#: The placeholder for the image of VMs if none is set.
NO_IMAGE = "registry.example/warmfront-vm:none"
#: dstack's name of the backend of SSH fleets.
OWN_HOSTS_BACKEND = "remote"
#: Variables that contradict AMD_FLEET_HOSTS, and their values that do not.
_CLOUD_VARIABLES: dict[str, tuple[str, ...]] = {
    "AMD_BACKEND": (OWN_HOSTS_BACKEND,),
    "AMD_REGION": (),
    "AMD_SPOT_POLICY": ("auto", "on-demand"),
    "AMD_SPOT_PRICE_RATIO": (),
    "AMD_MINIMUM_RESERVATION": ("0s",),
    "WARMFRONT_DSTACK_MODE": ("pool",),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of an operator; each field's comment names its variable."""

    #: AMD_CONTAINER_ISOLATION: false is accepted only for the user's own code, with --trust.
    isolation: bool = True
    #: AMD_CONTAINER_MEMORY_LIMIT: memory of one sandbox.
    memory_bytes: int = 16 * GIB
    #: AMD_CONTAINER_CPU_LIMIT: CPUs of one sandbox.
    cpus: float = 4.0
    #: WARMFRONT_PIDS_LIMIT: processes and threads of one sandbox.
    pids: int = 256
    #: WARMFRONT_FILE_SIZE_LIMIT: maximum size of a file that a sandbox writes.
    file_bytes: int = 4 * GIB
    #: WARMFRONT_LIBRARY_SIZE_LIMIT: maximum size of a compiled submission.
    library_bytes: int = 64 * MIB
    #: WARMFRONT_OUTPUT_LIMIT: maximum output of submitted code.
    output_bytes: int = MIB
    #: WARMFRONT_COMPILE_TIMEOUT: CPU seconds for the compiler.
    compile_timeout_s: float = 60.0
    #: WARMFRONT_COMPILE_MEMORY_LIMIT: memory of the compiler.
    compile_memory_bytes: int = 2 * GIB
    #: WARMFRONT_CASE_TIMEOUT: CPU seconds for one call of `solution`.
    case_timeout_s: float = 10.0
    #: WARMFRONT_RUN_TIMEOUT: CPU seconds for all calls of one submission.
    run_timeout_s: float = 300.0
    #: WARMFRONT_BENCH_BUDGET: seconds for the samples of one timed case; twice that on the CPU runtime.
    bench_budget_s: float = 0.6
    #: WARMFRONT_XRAY: X-ray every run.
    xray: bool = True
    #: WARMFRONT_XRAY_TIMEOUT: seconds of CPU time for the compiler of `POST /xray`.
    xray_timeout_s: float = 10.0
    #: WARMFRONT_BUG_FINDER: run the bug finder in every check; `warmfront check --bugs` always does.
    bug_finder: bool = True
    #: WARMFRONT_BUG_FINDER_MEMORY_LIMIT: memory of the bug finder's sandbox.
    bug_finder_memory_bytes: int = 2 * GIB
    #: WARMFRONT_CACHE_DIR: precompiled headers and objects.
    cache_dir: Path = field(default_factory=lambda: default_cache_dir())  # noqa: PLW0108 - defined below
    #: WARMFRONT_BOX_DIR: the directory for the folders of boxes; empty: a tmpfs of this machine.
    box_dir: Path | None = None
    #: WARMFRONT_DOCKER_IMAGE: the image of Docker boxes; empty: the host's own system, read-only.
    docker_image: str | None = None
    #: WARMFRONT_DOCKER_IMAGE_DIRS: directories that this image has itself, so that they are not mounted.
    docker_image_dirs: tuple[Path, ...] = ()
    #: WARMFRONT_STUB_GPU: the parameters of the toolchain `stub`, such as `copy_gbps=10,fault=hang`.
    stub_gpu: str = ""
    #: WARMFRONT_SANDBOX: `bubblewrap` or `docker`; empty: the first that works.
    sandbox: str | None = None
    #: WARMFRONT_DEVICE: the device of the toolchain `rocm`: `gpu`, or `rocjitsu`, AMD's emulator.
    rocm_device: str = "gpu"
    #: WARMFRONT_ROCJITSU: the directory of rocjitsu, with `lib` and `share`; empty: from PATH or /opt/rocm.
    rocjitsu: Path | None = None
    #: WARMFRONT_ROCJITSU_CONFIG: the emulated GPU, a file; empty: one of rocjitsu's for the architecture.
    rocjitsu_config: Path | None = None
    #: WARMFRONT_SLOTS: attempts that a VM judges at once, each on its own GPU; empty: one per GPU.
    slots: int | None = None
    #: WARMFRONT_RUN_CPUS: the CPUs of sandboxes that run submitted code; empty: the listener divides them.
    run_cpu_set: tuple[int, ...] = ()
    #: WARMFRONT_COMPILE_CPUS: the CPUs of sandboxes that compile; empty: the listener divides them.
    compile_cpu_set: tuple[int, ...] = ()

    #: WARMFRONT_CHECK_GPU: check the GPU of the machine even if the toolchain does not use one.
    check_gpu: bool = False

    #: WARMFRONT_PROVIDER: `local` or `dstack`.
    provider: str = "local"
    #: WARMFRONT_HOST: the address that the service listens on.
    host: str = "127.0.0.1"
    #: WARMFRONT_PORT: the port that the service listens on.
    port: int = 3000
    #: WARMFRONT_PUBLIC_URL: the address at which browsers reach the service; empty: its own, on loopback.
    public_url: str | None = None
    #: WARMFRONT_OIDC_ISSUER: `github`, `google` or the address of an OpenID Connect issuer.
    oidc_issuer: str | None = None
    #: WARMFRONT_OIDC_CLIENT_ID: the id of this service at the issuer.
    oidc_client_id: str | None = None
    #: WARMFRONT_OIDC_CLIENT_SECRET: its secret; empty for a public client.
    oidc_client_secret: str | None = field(default=None, repr=False)
    #: WARMFRONT_OIDC_NAME: the name of the issuer on the page.
    oidc_name: str | None = None
    #: WARMFRONT_ADMINS: verified e-mail addresses or subjects of people who become admins when they sign in.
    admins: tuple[str, ...] = ()
    #: WARMFRONT_SIGN_UP: who becomes a user: `invited`, or everyone, as a `reader` or an `author`.
    sign_up: str = "invited"
    #: WARMFRONT_SESSION_DURATION: how long a sign-in lasts.
    session_s: int = 7 * 86400
    #: WARMFRONT_DATA_DIR: the directory of the database, the secret and signing keys, and the local VMs.
    data_dir: Path = field(default_factory=lambda: default_data_dir())  # noqa: PLW0108 - defined below
    #: WARMFRONT_MIN_FREE_DISK: free space of the data directory below which `/ready` responds with 503.
    min_free_disk_bytes: int = 256 * MIB
    #: WARMFRONT_DATABASE_URL: PostgreSQL instead of SQLite in the data directory.
    database_url: str | None = None
    #: WARMFRONT_STANDBY: while another service uses the same PostgreSQL database, wait to take over from it.
    standby: bool = False
    #: WARMFRONT_LOCK_TIMEOUT: seconds after which a service that no longer uses its database loses its lock.
    lock_timeout_s: float = 20.0
    #: WARMFRONT_ALERT_WEBHOOK: the address that alerts are posted to, as JSON.
    alert_webhook: str | None = field(default=None, repr=False)
    #: WARMFRONT_ALERT_SLACK_WEBHOOK: a webhook with Slack's format that alerts are posted to.
    alert_slack_webhook: str | None = field(default=None, repr=False)
    #: WARMFRONT_ALERT_EMAIL_TO: the addresses that alerts are mailed to, separated by commas.
    alert_email_to: str | None = None
    #: WARMFRONT_ALERT_EMAIL_FROM: the sender of these e-mails; empty: the first recipient.
    alert_email_from: str | None = None
    #: WARMFRONT_SMTP_URL: the mail server, such as smtps://user:password@mail.example.
    smtp_url: str | None = field(default=None, repr=False)
    #: WARMFRONT_ALERT_BURN_RATE: dollars per hour of all VMs at which an alert is sent; empty: none.
    alert_burn_usd_per_h: Decimal | None = None
    #: WARMFRONT_ALERT_IDLE: seconds after its deadline at which an idle VM causes an alert.
    alert_idle_s: float = 120.0
    #: WARMFRONT_ALERT_QUEUE_WAIT: seconds that a submission may wait before an alert is sent.
    alert_queue_wait_s: float = 900.0
    #: WARMFRONT_ALERT_PROVIDER_ERRORS: VMs in a row that fail to provision before an alert is sent.
    alert_provider_errors: int = 3
    #: WARMFRONT_OTLP_ENDPOINT: the OpenTelemetry collector that gets traces of submissions; empty: none.
    otlp_endpoint: str | None = None
    #: WARMFRONT_REHEARSE: give local VMs the boot time and price of a cloud, in simulated dollars.
    rehearse: bool = False
    #: WARMFRONT_REHEARSE_BOOT: boot time of a rehearsal in seconds.
    rehearse_boot_s: float = 60.0
    #: AMD_VM_IDLE_TIMEOUT: seconds that an idle VM is kept.
    idle_timeout_s: float = 600.0
    #: AMD_VM_IDLE_TIMEOUT_MAX: maximum seconds that any policy keeps an idle VM.
    idle_timeout_max_s: float = 14400.0
    #: WARMFRONT_KEEP_WARM: the keep-warm policy, `fixed` or `adaptive`.
    keep_warm: str = "fixed"
    #: WARMFRONT_WAIT_VALUE_USD_PER_HOUR: the value of an hour of an author's waiting, in dollars.
    wait_value_usd_per_h: float = 20.0
    #: AMD_VM_MAX_CONCURRENT: maximum number of VMs at a time.
    max_vms: int = 3
    #: AMD_DEFAULT_GPU: the GPU type of a submission that does not name one.
    default_gpu: str = "MI300X"
    #: WARMFRONT_GPU: the GPU type of the machine that the judge runs on; providers set it on each VM.
    judge_gpu: str = "MI300X"
    #: AMD_MI300X_HOURLY_RATE: dollars per hour of a VM with an MI300X; with dstack the maximum price.
    rate_usd_per_h: Decimal = Decimal("1.99")
    #: AMD_MI325X_HOURLY_RATE: dollars per hour of a VM with an MI325X.
    mi325x_rate_usd_per_h: Decimal = Decimal("2.25")
    #: AMD_HOST_HOURLY_RATE: dollars per hour and GPU of a host of AMD_FLEET_HOSTS while it is in use.
    host_rate_usd_per_h: Decimal = Decimal(0)
    #: AMD_VM_GPUS: how many GPUs a VM may have, separated by commas, such as `1,8`.
    gpu_counts: tuple[int, ...] = (1,)
    #: AMD_VM_GPU_RATES: dollars per hour of VMs with several GPUs, such as `8:15.92`; else a multiple of one.
    gpu_count_rates: Mapping[int, Decimal] = field(default_factory=dict, hash=False)
    #: AMD_MINIMUM_RESERVATION: the minimum time that the cloud bills for a VM; Hot Aisle requires it.
    minimum_reservation_s: int | None = None
    #: AMD_GRANT_CREDITS_TOTAL: the hard limit on spending, in dollars.
    credits_usd: Decimal = Decimal("1400.00")
    #: AMD_COST_ALERT_THRESHOLD: the share of the credits at which the alert is sent, once.
    alert_threshold: Decimal = Decimal("0.8")
    #: WARMFRONT_PROVISION_TIMEOUT: seconds after which provisioning, or waiting for an available VM, is
    #: abandoned.
    provision_timeout_s: float = 1800.0
    #: WARMFRONT_TASK_TIMEOUT: maximum seconds of one attempt on a VM.
    task_timeout_s: float = 600.0
    #: WARMFRONT_STOP_LAG: seconds that a provider may take to terminate a VM; their cost is reserved.
    stop_lag_s: float = 300.0
    #: WARMFRONT_HEARTBEAT: seconds between heartbeats to a VM.
    heartbeat_s: float = 10.0
    #: WARMFRONT_LOST_AFTER: seconds without a response until a VM counts as lost.
    lost_after_s: float = 30.0
    #: WARMFRONT_DEAD_MAN: seconds without a heartbeat until the watchdog of a listener ends it.
    watchdog_s: float = 180.0
    #: WARMFRONT_RATE_LIMIT: submissions per minute and user.
    rate_limit_per_min: int = 600
    #: WARMFRONT_DAILY_SUBMISSIONS: submissions per day and user.
    daily_submissions: int = 10_000
    #: WARMFRONT_MAX_CONNECTIONS: open connections of the service; the limit of open files applies as well.
    max_connections: int = 4096
    #: WARMFRONT_MAX_CONNECTIONS_PER_ADDRESS: open connections from one address.
    max_connections_per_address: int = 1024
    #: WARMFRONT_REQUEST_HEAD_TIMEOUT: seconds for a client to send the head of a request.
    request_head_timeout_s: float = 10.0
    #: WARMFRONT_REQUEST_BODY_TIMEOUT: seconds for a client to send the body of a request.
    request_body_timeout_s: float = 30.0
    #: WARMFRONT_STREAMS_PER_USER: open event streams per user.
    streams_per_user: int = 256
    #: WARMFRONT_DAILY_BUDGET: dollars per day and user; empty: no limit but the credits.
    daily_budget_usd: Decimal | None = None
    #: WARMFRONT_TEAM_DAILY_BUDGET: dollars per day and team; empty: no limit but the credits.
    team_daily_budget_usd: Decimal | None = None
    #: WARMFRONT_TOTAL_DAILY_BUDGET: dollars per day for all users; empty: no limit but the credits.
    total_daily_budget_usd: Decimal | None = None

    #: DSTACK_SERVER_URL: the dstack server; empty: from dstack's own configuration file.
    dstack_url: str | None = None
    #: DSTACK_TOKEN: the token for the dstack server; empty: from dstack's own configuration file.
    dstack_token: str | None = field(default=None, repr=False)
    #: DSTACK_PROJECT: the dstack project; empty: from dstack's own configuration file.
    dstack_project: str | None = None
    #: WARMFRONT_DSTACK_MODE: `pool`, a resident listener per VM, or `direct`, a dstack run per submission.
    dstack_mode: str = "pool"
    #: DSTACK_AMDDEVCLOUD_API_KEY: for a self-hosted dstack server; never sent to a VM.
    devcloud_api_key: str | None = field(default=None, repr=False)
    #: DSTACK_DIGITALOCEAN_API_KEY: for a self-hosted dstack server; never sent to a VM.
    digitalocean_api_key: str | None = field(default=None, repr=False)
    #: DSTACK_HOTAISLE_API_KEY: for a self-hosted dstack server; never sent to a VM.
    hotaisle_api_key: str | None = field(default=None, repr=False)
    #: DSTACK_HOTAISLE_TEAM: the handle of the team in Hot Aisle.
    hotaisle_team: str | None = None
    #: DSTACK_KUBECONFIG: the kubeconfig file of a Kubernetes cluster, for a self-hosted dstack server.
    kubeconfig: Path | None = None
    #: DSTACK_KUBERNETES_NODE: the address of a node, and a free port on it, for SSH into the cluster.
    kubernetes_node: values.SSHAddress | None = None
    #: WARMFRONT_AMDDEVCLOUD_READ_KEY: may read the machines of AMD Developer Cloud; confirms ends of VMs.
    devcloud_read_key: str | None = field(default=None, repr=False)
    #: WARMFRONT_HOTAISLE_READ_KEY: the same for Hot Aisle.
    hotaisle_read_key: str | None = field(default=None, repr=False)
    #: AMD_BACKEND: dstack's names for the clouds, separated by commas. DSTACK_BACKEND is an alias.
    backend: str = "amddevcloud"
    #: AMD_REGION: the regions in which VMs may be, separated by commas; empty: all regions of the backends.
    region: str = ""
    #: AMD_FLEET_NAME: the fleet that VMs belong to.
    fleet_name: str = "amd-mi300x-fleet"
    #: AMD_FLEET_MAX_NODES: maximum number of VMs in the fleet; the minimum is always 0.
    fleet_max_nodes: int = 1
    #: AMD_FLEET_HOSTS: your own machines as an SSH fleet, separated by commas; empty: VMs of a cloud.
    fleet_hosts: tuple[values.SSHAddress, ...] = ()
    #: AMD_FLEET_SSH_USER: the user on these hosts who may use sudo without a password.
    fleet_ssh_user: str = "root"
    #: AMD_FLEET_SSH_KEY: the file with this user's private key, which `fleet create` sends to the dstack
    #: server.
    fleet_ssh_key: Path | None = None
    #: AMD_FLEET_JUMP_HOST: the SSH server through which these hosts are reached; empty: directly.
    fleet_jump_host: values.SSHAddress | None = None
    #: AMD_FLEET_IDLE_DURATION: time after which dstack itself terminates an idle VM.
    fleet_idle_s: int = 600
    #: AMD_FLEET_DRY_RUN: `warmfront fleet create` stops after the plan.
    fleet_dry_run: bool = False
    #: AMD_CPU_FLEET_NAME: the fleet of CPU nodes, which judge checks; empty: VMs with a GPU judge them.
    cpu_fleet_name: str | None = None
    #: AMD_CPU_FLEET_MAX_NODES: maximum number of CPU nodes; they do not count as VMs with a GPU.
    cpu_max_nodes: int = 1
    #: AMD_CPU_BACKEND: dstack's names for the clouds of CPU nodes; empty: AMD_BACKEND.
    cpu_backend: str | None = None
    #: AMD_CPU_CORES: the least number of CPUs of a CPU node.
    cpu_cores: int = 4
    #: AMD_CPU_MEMORY: the least memory of a CPU node.
    cpu_memory: str = "8GB"
    #: AMD_CPU_DISK: the least disk space of a CPU node, which must hold the image.
    cpu_disk: str = "50GB"
    #: AMD_CPU_IMAGE: the image of CPU nodes; empty: WARMFRONT_WORKER_IMAGE.
    cpu_image: str | None = None
    #: AMD_CPU_SLOTS: how many checks a CPU node judges at once.
    cpu_slots: int = 1
    #: AMD_CPU_HOURLY_RATE: dollars per hour of a CPU node.
    cpu_rate_usd_per_h: Decimal = Decimal("0.10")
    #: AMD_CPU_IDLE_TIMEOUT: seconds that an idle CPU node is kept.
    cpu_idle_timeout_s: float = 600.0
    #: AMD_GPU_TYPE: the GPU types that submissions may request and VMs may have, separated by commas.
    gpu_type: str = "MI300X"
    #: AMD_GPU_MEMORY: the GPU's memory, for a fleet with one GPU type.
    gpu_memory: str = "192GB"
    #: AMD_SPOT_POLICY: whether VMs are spot VMs, which the cloud can preempt; `auto`: if cheaper.
    spot_policy: str = "auto"
    #: AMD_SPOT_PRICE_RATIO: the price of a spot VM divided by the on-demand rate; empty: there are none.
    spot_price_ratio: Decimal | None = None
    #: AMD_SPOT_INTERRUPTIONS_PER_HOUR: the assumed rate of preemptions of a spot VM, until it is measured.
    spot_interruptions_per_h: float = 0.1
    #: AMD_VM_MAX_DURATION: time after which dstack stops a worker run unconditionally.
    vm_max_s: int = 86400
    #: WARMFRONT_WORKER_IMAGE: the image of VMs, which `warmfront image push` prints; there is no public one.
    worker_image: str = NO_IMAGE
    #: WARMFRONT_WORKER_TOOLCHAIN: the toolchain of leased VMs; others than `rocm` are for VMs without a GPU.
    worker_toolchain: str = "rocm"
    #: WARMFRONT_REQUIRE_DIGESTS: refuse to serve unless the image of VMs is named by digest.
    require_digests: bool = True
    #: WARMFRONT_IMAGE_REPOSITORY: where `warmfront image push` pushes the image of VMs.
    image_repository: str | None = None
    #: WARMFRONT_REGISTRY_USERNAME: for VMs to pull the image from a private registry.
    registry_username: str | None = None
    #: WARMFRONT_REGISTRY_PASSWORD: a password or token that may only pull; dstack gets it, containers do not.
    registry_password: str | None = field(default=None, repr=False)

    def compile_limits(self) -> SandboxLimits:
        """Return the limits of a sandbox that compiles."""
        return self._limits(
            memory_bytes=self.compile_memory_bytes,
            cpu_s=self.compile_timeout_s,
            cpu_set=self.compile_cpu_set,
        )

    def run_limits(self) -> SandboxLimits:
        """Return the limits of a sandbox that runs submitted code."""
        return self._limits(
            memory_bytes=self.memory_bytes, cpu_s=self.run_timeout_s, cpu_set=self.run_cpu_set
        )

    def bug_finder_limits(self) -> SandboxLimits:
        """Return the limits of a sandbox that runs submitted code with the bug finder, on small cases."""
        return self._limits(memory_bytes=self.bug_finder_memory_bytes, cpu_s=self.run_timeout_s)

    @property
    def backends(self) -> tuple[str, ...]:
        """The clouds in which VMs may be provisioned; dstack tries the cheapest offers first."""
        return tuple(name.strip() for name in self.backend.split(","))

    @property
    def max_fleet_vms(self) -> int:
        """The maximum number of VMs in the fleet: AMD_FLEET_MAX_NODES, or one per host."""
        return len(self.fleet_hosts) or self.fleet_max_nodes

    @property
    def all_backends(self) -> tuple[str, ...]:
        """The clouds in which GPU VMs or CPU nodes may be provisioned."""
        cpu_backends = self.of_cpu_fleet().backends if self.has_cpu_nodes else ()
        return (*self.backends, *(name for name in cpu_backends if name not in self.backends))

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions in which VMs may be; empty for all."""
        return tuple(name.strip() for name in self.region.split(",") if name.strip())

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The GPU types that submissions may request and VMs may have."""
        return tuple(name.strip() for name in self.gpu_type.split(","))

    def gpu_rate_usd_per_h(self, gpu: str) -> Decimal:
        """Return the price of a VM with this GPU type: the operator's setting, or the list price.

        On your own machines it is AMD_HOST_HOURLY_RATE. A partition costs its share of the card's price.

        Raises:
            BadSetting: There is neither a setting nor a list price.
        """
        set_rates = {"MI300X": self.rate_usd_per_h, "MI325X": self.mi325x_rate_usd_per_h}
        if gpu == gpus.CPU_NODE:
            return self.cpu_rate_usd_per_h
        known = gpus.by_name(gpu)
        if known is not None and known.card:
            return self.gpu_rate_usd_per_h(known.card) / known.devices_per_card
        if self.fleet_hosts:
            return self.host_rate_usd_per_h
        rate = set_rates.get(gpu, known.list_price_usd_per_h if known else None)
        if rate is None:
            raise BadSetting(
                f"There is no hourly rate for the GPU type {gpu!r}; there is one for {', '.join(set_rates)}.",
                hint="Set AMD_GPU_TYPE and AMD_DEFAULT_GPU to GPU types that have a rate.",
            )
        return rate

    def vm_rate_usd_per_h(self, gpu: str, gpu_count: int) -> Decimal:
        """Return the price of a VM with this many GPUs: a setting, or a multiple of one GPU's price.

        AMD_VM_GPU_RATES is for the default GPU type.
        """
        rate = self.gpu_count_rates.get(gpu_count) if gpu == self.default_gpu else None
        return self.gpu_rate_usd_per_h(gpu) * gpu_count if rate is None else rate

    @property
    def has_cpu_nodes(self) -> bool:
        """Whether there is a fleet of CPU nodes, which judges checks."""
        return self.provider == "dstack" and self.cpu_fleet_name is not None

    def idle_timeout_of(self, gpu: str) -> float:
        """Return how many seconds an idle VM with this GPU type, or an idle CPU node, is kept."""
        return self.cpu_idle_timeout_s if gpu == gpus.CPU_NODE else self.idle_timeout_s

    @property
    def is_of_cpu_fleet(self) -> bool:
        """Whether `of_cpu_fleet` returned these settings."""
        return self.gpu_type == gpus.CPU_NODE

    def of_cpu_fleet(self) -> Settings:
        """Return the settings with the fleet of CPU nodes in place of the fleet of VMs with a GPU."""
        return replace(
            self,
            fleet_name=self.cpu_fleet_name or self.fleet_name,
            fleet_max_nodes=self.cpu_max_nodes,
            fleet_hosts=(),
            backend=self.cpu_backend or self.backend,
            region="" if self.cpu_backend else self.region,
            gpu_type=gpus.CPU_NODE,
            gpu_counts=(1,),
            spot_policy="on-demand",
            minimum_reservation_s=0,
            worker_image=self.cpu_image or self.worker_image,
            worker_toolchain="cpu",
        )

    def judge_environ(self) -> dict[str, str]:
        """Return the variables from which `load` restores the settings of a judge, and no others."""
        judge_values = {VARIABLES[name][0]: getattr(self, name) for name in JUDGE_FIELDS}
        return {variable: str(value) for variable, value in judge_values.items() if value is not None}

    def _limits(self, *, memory_bytes: int, cpu_s: float, cpu_set: tuple[int, ...] = ()) -> SandboxLimits:
        return SandboxLimits(
            # A sandbox that may use all of the machine's memory offers no protection.
            memory_bytes=min(memory_bytes, machine_memory_bytes() * 3 // 4),
            cpus=self.cpus,
            pids=self.pids,
            file_bytes=self.file_bytes,
            open_files=256,
            output_bytes=self.output_bytes,
            tmp_bytes=min(512 * MIB, memory_bytes // 2),
            cpu_s=cpu_s,
            wall_s=cpu_s * WALL_S_PER_CPU_S,
            cpu_set=cpu_set,
        )


def load(environ: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Load the settings: the environment overrides `.env`, which overrides the defaults."""
    texts = read_variables(os.environ if environ is None else environ, env_file)
    given = {
        name: parse(name, texts[variable], variable)
        for name, (variable, _, _) in VARIABLES.items()
        if texts.get(variable, "").strip()
    }
    settings = Settings(**given)  # type: ignore[arg-type]  # each parser gives its field's type
    if settings.fleet_hosts or settings.backend == OWN_HOSTS_BACKEND:
        settings = _with_own_hosts(settings, texts)
    if settings.default_gpu not in settings.gpu_types:
        raise BadSetting(
            f"AMD_DEFAULT_GPU is {settings.default_gpu!r}; allowed: a GPU type of AMD_GPU_TYPE, "
            f"{', '.join(settings.gpu_types)}.",
            hint="Add it to AMD_GPU_TYPE, or change AMD_DEFAULT_GPU.",
        )
    _check_cpu_fleet(settings)
    if settings.standby and not (settings.database_url or "").startswith("postgresql"):
        raise BadSetting(
            "WARMFRONT_STANDBY is true; allowed only with PostgreSQL, which the services share.",
            hint="Set WARMFRONT_DATABASE_URL to a PostgreSQL database, or remove WARMFRONT_STANDBY.",
        )
    _check_sign_in(settings)
    return settings


def _with_own_hosts(settings: Settings, texts: Mapping[str, str]) -> Settings:
    """Return the settings for an SSH fleet.

    Raises:
        BadSetting: There are no hosts, or a variable that is only for VMs of a cloud is set.
    """
    if not settings.fleet_hosts:
        raise BadSetting(
            "AMD_BACKEND is 'remote', which is dstack's name for your own machines, but AMD_FLEET_HOSTS is "
            "not set.",
            hint="Set AMD_FLEET_HOSTS to your machines, such as 10.0.0.11,10.0.0.12.",
        )
    for variable, allowed in _CLOUD_VARIABLES.items():
        text = texts.get(variable, "").strip()
        if text and text not in allowed:
            only = f" or set it to {' or '.join(allowed)}" if allowed else ""
            raise BadSetting(
                f"{variable} is {text!r}, but AMD_FLEET_HOSTS is set, and {variable} is only for VMs of a "
                "cloud.",
                hint=f"Unset {variable}{only}; or unset AMD_FLEET_HOSTS to use a cloud.",
            )
    return replace(settings, backend=OWN_HOSTS_BACKEND, spot_policy="on-demand")


def _check_cpu_fleet(settings: Settings) -> None:
    """Raise `BadSetting` if the fleet of CPU nodes cannot be used with the other settings."""
    name = settings.cpu_fleet_name
    if name is not None and name == settings.fleet_name:
        raise BadSetting(
            f"AMD_CPU_FLEET_NAME is {name!r}, which is also the value of AMD_FLEET_NAME.",
            hint="Set it to the name of another fleet, or unset it.",
        )
    if name is not None and settings.fleet_hosts and not settings.cpu_backend:
        raise BadSetting(
            f"AMD_CPU_FLEET_NAME is {name!r}, and AMD_CPU_BACKEND is not set, but your own machines of "
            "AMD_FLEET_HOSTS belong to no cloud.",
            hint="Set AMD_CPU_BACKEND to the cloud of the CPU nodes, or unset AMD_CPU_FLEET_NAME.",
        )
    if settings.has_cpu_nodes and settings.dstack_mode != "pool":
        raise BadSetting(
            f"AMD_CPU_FLEET_NAME is {name!r}, but CPU nodes require WARMFRONT_DSTACK_MODE=pool.",
            hint="Set WARMFRONT_DSTACK_MODE to pool, or unset AMD_CPU_FLEET_NAME.",
        )


def _check_sign_in(settings: Settings) -> None:
    if settings.oidc_issuer is None:
        return
    if settings.oidc_client_id is None:
        raise BadSetting(
            "WARMFRONT_OIDC_ISSUER is set, but WARMFRONT_OIDC_CLIENT_ID is not.",
            hint="Register this service with the issuer, and set WARMFRONT_OIDC_CLIENT_ID to its client id.",
        )
    if settings.oidc_issuer == "github" and settings.oidc_client_secret is None:
        raise BadSetting(
            "WARMFRONT_OIDC_ISSUER is 'github', but WARMFRONT_OIDC_CLIENT_SECRET is not set.",
            hint="Create a client secret for the OAuth app, and set it.",
        )
    if settings.public_url is None and not values.is_loopback(settings.host):
        raise BadSetting(
            f"Browsers on other machines sign in at {settings.host}, but WARMFRONT_PUBLIC_URL is not set.",
            hint="Set it to the https:// address at which they reach the service.",
        )


def with_options(settings: Settings, options: Mapping[str, tuple[str, str | None]]) -> Settings:
    """Return the settings, overridden by options.

    Keys are fields; values are the option's name and its text, if given.
    """
    given = {name: parse(name, text, option) for name, (option, text) in options.items() if text is not None}
    return replace(settings, **given)  # type: ignore[arg-type]  # each parser gives its field's type


def default_cache_dir() -> Path:
    """Return the cache directory. Root's is outside its home, which the unprivileged sandbox cannot read."""
    if os.geteuid() == 0:
        return Path("/var/cache/warmfront")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warmfront"


def default_data_dir() -> Path:
    """Return the directory for the service's state."""
    if os.geteuid() == 0:
        return Path("/var/lib/warmfront")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "warmfront"
