"""The local provider with real processes: started, found again, watched, ended, with nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.clock import SystemClock
from warmfront.errors import ProviderError
from warmfront.listener.client import HttpListenerClient
from warmfront.providers.base import Lease, Phase
from warmfront.providers.local import local_provider, processes
from warmfront.providers.local.local_provider import LISTENER, LocalProvider
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from warmfront.settings import Settings

pytestmark = pytest.mark.anyio

#: A stub for a listener: it records its arguments, announces an address and waits for a signal.
STUB = """
import json, os, pathlib, signal, sys
path = pathlib.Path(sys.argv[sys.argv.index("--announce") + 1])
path.with_name("given").write_text(json.dumps({"argv": sys.argv[1:], "environ": dict(os.environ)}))
draft = path.with_name(f"draft-{os.getpid()}")  # a fork of this stub announces itself too
draft.write_text(json.dumps({"address": f"http://127.0.0.1:{os.getpid()}"}))
draft.rename(path)
signal.pause()
"""
#: Ignores SIGTERM, and so does its child.
STUBBORN = "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.fork()" + STUB
#: Exits before it listens.
BROKEN = "import sys; sys.exit('there is no compiler')"


class FakeTime:
    """A clock that advances when a caller sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        """Return the current time."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Advance the clock."""
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture(name="anyio_backend")
def _anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(name="configured")
def _configured(tmp_path: Path) -> Settings:
    return replace(settings.load({}, env_file=None), data_dir=tmp_path / "data")


@pytest.fixture(name="make")
async def _make(configured: Settings) -> AsyncIterator[Callable[..., LocalProvider]]:
    """Create providers with one data directory. At the end of a test, none of its VMs may be alive."""
    created = []

    def make(program: str = STUB, *, time: FakeTime | None = None, **changes: object) -> LocalProvider:
        changed = replace(configured, **changes)  # type: ignore[arg-type]  # tests name existing fields
        listener = (sys.executable, "-c", program)
        options = {"clock": time, "sleep": time.sleep} if time else {}
        created.append(LocalProvider(changed, listener=listener, **options))  # type: ignore[arg-type]  # typed by the fake
        return created[-1]

    yield make
    for lease in await LocalProvider(configured).leases():
        await LocalProvider(configured).release(lease.vm_id)
    for provider in created:
        await provider.close()
    announcements = [str(folder / "listener.json") for folder in (configured.data_dir / "vms").glob("*")]
    assert not [path for path in announcements if processes.find(path)]


async def _ready(provider: LocalProvider, vm_id: str = "vm-1") -> Lease:
    leases = [lease async for lease in provider.provision(vm_id, "MI300X", "token")]
    assert leases[-1].phase is Phase.READY
    return leases[-1]


def _folder(configured: Settings, vm_id: str = "vm-1") -> Path:
    return configured.data_dir / "vms" / vm_id


def _pid(lease: Lease) -> int:
    """Return the stub's pid, which it announces as its port."""
    assert lease.address
    return int(lease.address.rpartition(":")[2])


async def test_life_of_a_vm(make: Callable[..., LocalProvider]) -> None:
    """A VM starts, has an address and is listed; after its release it has an end and is no longer listed."""
    provider = make()
    phases = [lease.phase async for lease in provider.provision("vm-1", "MI300X", "token")]
    assert phases == [Phase.STARTING, Phase.READY]
    described = await provider.describe("vm-1")
    assert described
    assert described.started_at is not None
    assert await provider.leases() == [described]
    ended = await provider.release("vm-1")
    assert ended.phase is Phase.ENDED
    assert ended.ended_at is not None
    assert ended.ended_at >= described.started_at
    assert await provider.leases() == []
    assert await provider.describe("vm-1") == ended == await provider.release("vm-1")
    with pytest.raises(ProcessLookupError):
        os.kill(_pid(described), 0)


async def test_listener_gets_its_token_and_no_other_secret(
    make: Callable[..., LocalProvider], configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is only in the environment, and no secret of the service is passed on."""
    monkeypatch.setenv("WARMFRONT_DATABASE_URL", "postgresql://me:hunter2@db/x")
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    await _ready(make(watchdog_s=7.5, cpus=1.5))
    recorded = json.loads((_folder(configured) / "given").read_text())
    assert recorded["environ"]["WARMFRONT_LISTENER_TOKEN"] == "token"  # noqa: S105 - the test's own
    assert recorded["environ"]["AMD_CONTAINER_CPU_LIMIT"] == "1.5"
    assert recorded["argv"][-2:] == ["--dead-man", "7.5"]
    assert "token" not in recorded["argv"]
    assert "hunter2" not in json.dumps(recorded)
    assert "token" not in (_folder(configured) / "lease.json").read_text()


async def test_new_provider_finds_the_vm(make: Callable[..., LocalProvider]) -> None:
    """After a crash, the next provider finds the VM, and provisioning it again starts no second process."""
    first = await _ready(make())
    second = make()
    assert [lease.vm_id for lease in await second.leases()] == ["vm-1"]
    assert await _ready(second) == first
    assert (await second.release("vm-1")).phase is Phase.ENDED


async def test_vm_without_a_stored_pid_is_found(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """A VM is found again even if the service was killed before it stored the pid."""
    pid = _pid(await _ready(make()))
    record = _folder(configured) / "lease.json"
    stored = json.loads(record.read_text())
    record.write_text(json.dumps({**stored, "phase": "starting", "address": None, "process": None}))
    assert _pid(await _ready(make())) == pid


async def test_vm_survives_kill_9_of_its_service(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """The VM is no longer a child of the service, and can still be found and ended."""
    service = f"""
import asyncio, os, signal, sys
from pathlib import Path
from dataclasses import replace
from warmfront import settings
from warmfront.providers.local.local_provider import LocalProvider
async def main():
    configured = replace(settings.load({{}}, env_file=None), data_dir=Path({str(configured.data_dir)!r}))
    provider = LocalProvider(configured, listener=(sys.executable, "-c", {STUB!r}))
    async for lease in provider.provision("vm-1", "MI300X", "token"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    result = subprocess.run([sys.executable, "-c", service], check=False)  # noqa: ASYNC221 - nothing else runs
    assert result.returncode == -signal.SIGKILL
    provider = make()
    (lease,) = await provider.leases()
    os.kill(_pid(lease), 0)
    ended = await provider.release("vm-1")
    assert ended.detail == local_provider.RELEASED
    assert not processes.find(str(_folder(configured) / "listener.json"))


async def test_killed_vm_has_ended(make: Callable[..., LocalProvider]) -> None:
    """The end of a killed VM is noticed with its cause, and the VM cannot be provisioned again."""
    provider = make()
    os.kill(_pid(await _ready(provider)), signal.SIGKILL)
    await provider._watchers["vm-1"]
    ended = await provider.describe("vm-1")
    assert ended
    assert ended.phase is Phase.ENDED
    assert ended.ended_at is not None
    assert "SIGKILL" in ended.detail
    assert await provider.leases() == []
    with pytest.raises(ProviderError, match="has ended"):
        await _ready(provider)


async def test_unobserved_end_is_dated_by_the_last_activity(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """A VM that ended while no service ran is billed until it last wrote a file, not until now."""
    provider = make()
    lease = await _ready(provider)
    await provider.close()
    process = processes.find(str(_folder(configured) / "listener.json"))
    assert process
    os.kill(process.pid, signal.SIGKILL)
    await processes.wait(process)
    assert lease.started_at
    between = (lease.started_at + SystemClock().now()) / 2
    for path in _folder(configured).iterdir():
        os.utime(path, (between, between))
    ended = await make().describe("vm-1")
    assert ended
    assert ended.ended_at == pytest.approx(between, abs=1e-5)


async def test_reused_pid_is_not_mistaken_for_a_vm(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """Another process that has the pid of an ended VM is not ended."""
    provider = make()
    lease = await _ready(provider)
    os.kill(_pid(lease), signal.SIGKILL)
    await provider._watchers["vm-1"]
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:  # noqa: ASYNC220 - an unrelated process
        record = _folder(configured) / "lease.json"
        stored = json.loads(record.read_text())
        stored.update(phase="ready", ended_at=None, detail="")
        stored["process"]["pid"] = stranger.pid
        record.write_text(json.dumps(stored))
        assert (await make().release("vm-1")).phase is Phase.ENDED
        assert stranger.poll() is None
        stranger.kill()


async def test_vm_that_ignores_sigterm_is_killed(
    make: Callable[..., LocalProvider], configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A VM that ignores SIGTERM is killed with its children, and its end is confirmed."""
    monkeypatch.setattr(local_provider, "_GRACE_S", 0.05)
    provider = make(STUBBORN)
    await _ready(provider)
    ended = await provider.release("vm-1")
    assert ended.phase is Phase.ENDED
    assert not processes.find(str(_folder(configured) / "listener.json"))


async def test_listener_that_fails_to_start(make: Callable[..., LocalProvider]) -> None:
    """If the listener exits before it listens, the error has its exit code and its last line of output."""
    with pytest.raises(ProviderError, match=r"exit code 1.*there is no compiler"):
        await _ready(make(BROKEN))


async def test_release_while_a_vm_starts(make: Callable[..., LocalProvider]) -> None:
    """A release during provisioning ends the VM, and provisioning fails."""
    provider = make("import signal; signal.pause()")
    provisioning = provider.provision("vm-1", "MI300X", "token")
    assert (await anext(provisioning)).phase is Phase.STARTING
    waiting = asyncio.ensure_future(anext(provisioning))
    await asyncio.sleep(0)
    assert (await provider.release("vm-1")).phase is Phase.ENDED
    with pytest.raises(ProviderError, match="released"):
        await waiting


async def test_unknown_vm(make: Callable[..., LocalProvider]) -> None:
    """An unknown VM has no description, its end is confirmed at once, and nothing is stored."""
    provider = make()
    assert await provider.describe("vm-9") is None
    assert (await provider.release("vm-9")).phase is Phase.ENDED
    assert await provider.leases() == []
    with pytest.raises(ValueError, match="not a valid VM id"):
        await provider.describe("../secret")


async def test_local_vm_is_free_and_simulated(make: Callable[..., LocalProvider]) -> None:
    """On a machine without a GPU, results are simulated and VMs cost nothing."""
    provider = make()
    assert provider.simulated is True
    assert provider.billing("MI300X").cost_usd(3600) == 0


async def test_rehearsal_has_the_boot_time_and_price_of_a_cloud(make: Callable[..., LocalProvider]) -> None:
    """A rehearsed boot has all phases, takes the configured time and is billed from BOOTING on."""
    time = FakeTime()
    provider = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    steps = [
        (lease.phase, time.time, lease.started_at)
        async for lease in provider.provision("vm-1", "MI300X", "t")
    ]
    assert steps == [
        (Phase.QUEUED, 1000.0, None),
        (Phase.BOOTING, 1020.0, 1020.0),
        (Phase.PULLING, 1080.0, 1020.0),
        (Phase.STARTING, 1180.0, 1020.0),
        (Phase.READY, 1200.0, 1020.0),
    ]
    assert provider.typical_boot_s("MI300X") == 200.0
    assert provider.billing("MI300X").cost_usd(3600) == Decimal("1.99")
    time.time = 1500.0
    assert (await provider.release("vm-1")).ended_at == 1500.0


async def test_rehearsal_has_the_price_of_the_gpu_type(make: Callable[..., LocalProvider]) -> None:
    """Each GPU type has its own rate, and a lease names the GPU type of its VM."""
    time = FakeTime()
    provider = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    assert provider.billing("MI325X").cost_usd(3600) == Decimal("2.25")
    leases = [lease async for lease in provider.provision("vm-1", "MI325X", "t")]
    assert {lease.gpu for lease in leases} == {"MI325X"}


async def test_rehearsed_boot_continues_without_a_service(make: Callable[..., LocalProvider]) -> None:
    """A boot continues while no service runs; the next service finds it in a later phase."""
    time = FakeTime()
    provisioning = make(time=time, rehearse=True, rehearse_boot_s=200.0).provision("vm-1", "MI300X", "t")
    assert (await anext(provisioning)).phase is Phase.QUEUED
    time.time = 1100.0
    second = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    (lease,) = await second.leases()
    assert (lease.phase, lease.started_at) == (Phase.PULLING, 1020.0)
    assert (await _ready(second)).started_at == 1020.0
    assert time.time == 1200.0


async def test_vm_released_while_queued_is_not_billed(make: Callable[..., LocalProvider]) -> None:
    """A rehearsed VM that is released before it boots has no billed interval."""
    time = FakeTime()
    provider = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    provisioning = provider.provision("vm-1", "MI300X", "t")
    await anext(provisioning)
    ended = await provider.release("vm-1")
    assert (ended.phase, ended.started_at, ended.ended_at) == (Phase.ENDED, None, 1000.0)
    with pytest.raises(ProviderError, match="released"):
        await anext(provisioning)


async def test_real_listener_accepts_its_token(configured: Settings) -> None:
    """The real listener accepts its token, and ends when the VM is released."""
    provider = LocalProvider(configured)
    try:
        lease = await _ready(provider)
        vm = VMInstance(
            id="vm-1", provider="local", gpu="MI300X", state=VMState.WARM, created_at=0, address=lease.address
        )
        assert (lease.address or "").startswith("unix:")
        listeners = HttpListenerClient(lambda _: "token")
        assert (await listeners.health(vm)).simulated is True
        await listeners.close()
        ended = await provider.release("vm-1")
        assert (ended.phase, ended.detail) == (Phase.ENDED, local_provider.RELEASED)
    finally:
        await provider.release("vm-1")
        await provider.close()


async def test_watchdog_ends_an_abandoned_vm(configured: Settings) -> None:
    """Without heartbeats the listener's watchdog ends the VM, and the provider notices."""
    provider = LocalProvider(replace(configured, watchdog_s=0.5))
    try:
        await _ready(provider)
        await provider._watchers["vm-1"]
        ended = await provider.describe("vm-1")
        assert ended
        assert ended.phase is Phase.ENDED
        assert "its listener exited" in ended.detail
    finally:
        await provider.release("vm-1")
        await provider.close()


def test_listener_command_is_this_installation() -> None:
    """A VM runs this installation, whatever is in the current directory."""
    assert LISTENER[0] == sys.executable
    assert LISTENER[1:] == ("-P", "-m", "warmfront", "listener")
