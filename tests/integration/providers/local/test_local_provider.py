"""The local provider with real processes: started, found again, seen out, ended, and nothing left behind."""

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

#: Stands in for a listener: notes what it was given, says where it is, and waits to be ended.
STUB = """
import json, os, pathlib, signal, sys
place = pathlib.Path(sys.argv[sys.argv.index("--announce") + 1])
place.with_name("given").write_text(json.dumps({"argv": sys.argv[1:], "environ": dict(os.environ)}))
draft = place.with_name("draft")
draft.write_text(json.dumps({"address": f"http://127.0.0.1:{os.getpid()}"}))
draft.rename(place)
signal.pause()
"""
#: Will not end when it is asked to, and neither will its child.
STUBBORN = "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.fork()" + STUB
#: Ends before it listens.
BROKEN = "import sys; sys.exit('there is no compiler')"


class FakeTime:
    """A clock that moves when someone sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        """The time."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let it be later."""
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
    """Makes providers of one data directory. At the end of a test none of its VMs may be alive."""
    made = []

    def make(program: str = STUB, *, time: FakeTime | None = None, **changes: object) -> LocalProvider:
        changed = replace(configured, **changes)  # type: ignore[arg-type]  # each test names fields that exist
        listener = (sys.executable, "-c", program)
        given = {"clock": time, "sleep": time.sleep} if time else {}
        made.append(LocalProvider(changed, listener=listener, **given))  # type: ignore[arg-type]  # as above
        return made[-1]

    yield make
    for lease in await LocalProvider(configured).leases():
        await LocalProvider(configured).release(lease.vm_id)
    for provider in made:
        await provider.close()
    announced = [str(folder / "listener.json") for folder in (configured.data_dir / "vms").glob("*")]
    assert not [place for place in announced if processes.find(place)]


async def _ready(provider: LocalProvider, vm_id: str = "vm-1") -> Lease:
    leases = [lease async for lease in provider.provision(vm_id, "MI300X", "token")]
    assert leases[-1].phase is Phase.READY
    return leases[-1]


def _folder(configured: Settings, vm_id: str = "vm-1") -> Path:
    return configured.data_dir / "vms" / vm_id


def _pid(lease: Lease) -> int:
    """The stub's port is its pid."""
    assert lease.address
    return int(lease.address.rpartition(":")[2])


async def test_a_vm_lives_from_provision_to_release(make: Callable[..., LocalProvider]) -> None:
    """It starts, has an address, is listed, and after its release has an end and is listed no more."""
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


async def test_a_listener_is_given_its_token_and_no_other_secret(
    make: Callable[..., LocalProvider], configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is in its environment alone; the service's own passwords are nowhere."""
    monkeypatch.setenv("WARMFRONT_DATABASE_URL", "postgresql://me:hunter2@db/x")
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    await _ready(make(dead_man_s=7.5, cpus=1.5))
    given = json.loads((_folder(configured) / "given").read_text())
    assert given["environ"]["WARMFRONT_LISTENER_TOKEN"] == "token"  # noqa: S105 - the test's own
    assert given["environ"]["AMD_CONTAINER_CPU_LIMIT"] == "1.5"
    assert given["argv"][-2:] == ["--dead-man", "7.5"]
    assert "token" not in given["argv"]
    assert "hunter2" not in json.dumps(given)
    assert "token" not in (_folder(configured) / "lease.json").read_text()


async def test_another_provider_goes_on_with_the_vm(make: Callable[..., LocalProvider]) -> None:
    """After a crash of the service the next one finds the VM, and asking again does not start a second."""
    first = await _ready(make())
    second = make()
    assert [lease.vm_id for lease in await second.leases()] == ["vm-1"]
    assert await _ready(second) == first
    assert (await second.release("vm-1")).phase is Phase.ENDED


async def test_a_vm_that_was_not_written_down_is_found(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """A service that was killed between starting a VM and noting its pid has lost nothing."""
    pid = _pid(await _ready(make()))
    record = _folder(configured) / "lease.json"
    written = json.loads(record.read_text())
    record.write_text(json.dumps({**written, "phase": "starting", "address": None, "process": None}))
    assert _pid(await _ready(make())) == pid


async def test_a_vm_survives_kill_9_of_its_service(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """It is nobody's child then, and can still be found and ended."""
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


async def test_a_killed_vm_is_described_as_ended(make: Callable[..., LocalProvider]) -> None:
    """Its end is noticed when it comes, with what is known of it, and it cannot be provisioned again."""
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


async def test_an_end_that_nobody_saw_is_dated_by_the_last_sign_of_life(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """A VM that ended while no service ran is billed until it last wrote something, not until now."""
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


async def test_a_process_that_got_the_pid_of_a_vm_is_left_alone(
    make: Callable[..., LocalProvider], configured: Settings
) -> None:
    """A pid alone proves nothing: another process that has it now is neither taken for the VM nor ended."""
    provider = make()
    lease = await _ready(provider)
    os.kill(_pid(lease), signal.SIGKILL)
    await provider._watchers["vm-1"]
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:  # noqa: ASYNC220 - a stranger
        record = _folder(configured) / "lease.json"
        written = json.loads(record.read_text())
        written.update(phase="ready", ended_at=None, detail="")
        written["process"]["pid"] = stranger.pid
        record.write_text(json.dumps(written))
        assert (await make().release("vm-1")).phase is Phase.ENDED
        assert stranger.poll() is None
        stranger.kill()


async def test_a_vm_that_will_not_end_is_killed_with_all_its_processes(
    make: Callable[..., LocalProvider], configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who does not heed the request to end is killed, children included, and the end is confirmed."""
    monkeypatch.setattr(local_provider, "_GRACE_S", 0.05)
    provider = make(STUBBORN)
    await _ready(provider)
    ended = await provider.release("vm-1")
    assert ended.phase is Phase.ENDED
    assert not processes.find(str(_folder(configured) / "listener.json"))


async def test_a_vm_that_breaks_at_its_start_says_why(make: Callable[..., LocalProvider]) -> None:
    """A listener that ends before it listens is an error with its exit code and last words."""
    with pytest.raises(ProviderError, match=r"exit code 1.*there is no compiler"):
        await _ready(make(BROKEN))


async def test_a_vm_is_ended_while_it_starts(make: Callable[..., LocalProvider]) -> None:
    """A release in the middle of provisioning ends the VM, and the provisioning fails."""
    provider = make("import signal; signal.pause()")
    provisioning = provider.provision("vm-1", "MI300X", "token")
    assert (await anext(provisioning)).phase is Phase.STARTING
    waiting = asyncio.ensure_future(anext(provisioning))
    await asyncio.sleep(0)
    assert (await provider.release("vm-1")).phase is Phase.ENDED
    with pytest.raises(ProviderError, match="released"):
        await waiting


async def test_what_was_never_leased_is_unknown(make: Callable[..., LocalProvider]) -> None:
    """It has no description, is confirmed to be gone, and leaves no trace."""
    provider = make()
    assert await provider.describe("vm-9") is None
    assert (await provider.release("vm-9")).phase is Phase.ENDED
    assert await provider.leases() == []
    with pytest.raises(ValueError, match="not a valid VM id"):
        await provider.describe("../secret")


async def test_a_local_vm_is_free_and_simulated(make: Callable[..., LocalProvider]) -> None:
    """On a machine without a GPU its results are simulated, and an hour of it costs nothing."""
    provider = make()
    assert provider.simulated is True
    assert provider.billing("MI300X").cost_usd(3600) == 0


async def test_a_rehearsal_takes_a_clouds_time_and_price(make: Callable[..., LocalProvider]) -> None:
    """It goes through every phase of a boot in the set time, is billed from booting on, at the set rate."""
    time = FakeTime()
    provider = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    seen = [
        (lease.phase, time.time, lease.started_at)
        async for lease in provider.provision("vm-1", "MI300X", "t")
    ]
    assert seen == [
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


async def test_a_rehearsed_boot_goes_on_without_a_service(make: Callable[..., LocalProvider]) -> None:
    """A machine that boots does not wait for whoever asked for it: the next service finds it further on."""
    time = FakeTime()
    provisioning = make(time=time, rehearse=True, rehearse_boot_s=200.0).provision("vm-1", "MI300X", "t")
    assert (await anext(provisioning)).phase is Phase.QUEUED
    time.time = 1100.0
    second = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    (lease,) = await second.leases()
    assert (lease.phase, lease.started_at) == (Phase.PULLING, 1020.0)
    assert (await _ready(second)).started_at == 1020.0
    assert time.time == 1200.0


async def test_a_vm_given_up_in_the_queue_costs_nothing(make: Callable[..., LocalProvider]) -> None:
    """Released before its machine booted, a rehearsed VM has no time from which it is billed."""
    time = FakeTime()
    provider = make(time=time, rehearse=True, rehearse_boot_s=200.0)
    provisioning = provider.provision("vm-1", "MI300X", "t")
    await anext(provisioning)
    ended = await provider.release("vm-1")
    assert (ended.phase, ended.started_at, ended.ended_at) == (Phase.ENDED, None, 1000.0)
    with pytest.raises(ProviderError, match="released"):
        await anext(provisioning)


async def test_the_real_listener_answers_with_its_token(configured: Settings) -> None:
    """A VM is a listener that answers whoever has its token, and ends when it is released."""
    provider = LocalProvider(configured)
    try:
        lease = await _ready(provider)
        vm = VMInstance(
            id="vm-1", provider="local", gpu="MI300X", state=VMState.WARM, created_at=0, address=lease.address
        )
        listeners = HttpListenerClient(lambda _: "token")
        assert (await listeners.health(vm)).simulated is True
        await listeners.close()
        ended = await provider.release("vm-1")
        assert (ended.phase, ended.detail) == (Phase.ENDED, local_provider.RELEASED)
    finally:
        await provider.release("vm-1")
        await provider.close()


async def test_a_vm_that_nobody_owns_ends_itself(configured: Settings) -> None:
    """Without heartbeats the listener's dead-man ends it, and the provider sees that."""
    provider = LocalProvider(replace(configured, dead_man_s=0.5))
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


def test_the_listener_is_our_own_program() -> None:
    """A VM runs this very installation, whatever lies in the current directory."""
    assert LISTENER[0] == sys.executable
    assert LISTENER[1:] == ("-P", "-m", "warmfront", "listener")
