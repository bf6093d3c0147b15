"""Write twelve days of usage to the store of a service: VMs, the submissions of four users, and their costs.

The last day has VMs of every kind. Nothing is random, so screenshots are reproducible.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.money.billing import Billing, charge_work, meter_until
from warmfront.settings import Settings
from warmfront.store import attempt_queries, event_queries, ledger_queries, submission_queries, vm_queries
from warmfront.store.records import AttemptRecord
from warmfront.store.sql_database import open_store
from warmfront.submission import NewSubmission
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

DAYS = 12
USERS = ("ada", "grace", "edsger", "barbara")
BOOT_S = 430.0
KEPT_S = 600.0
RATE_USD_PER_H = Decimal("1.99")

#: When a VM was requested on each day, in hours before now, and its number of submissions.
_SHIFTS = ((21.5, 9), (15.0, 24), (6.0, 14), (2.2, 31))
_DAY_S = 86_400

DEVICE = {
    "arch": "gfx942",
    "name": "AMD Instinct MI300X",
    "compute_units": 304,
    "memory_bytes": 206_141_652_992,
    "partition": "SPX/NPS1",
    "driver_version": "6.16.13",
}
FAILED_CHECK = {
    "name": "ECC",
    "ok": False,
    "detail": "3 uncorrectable and 9 corrected memory errors",
    "remedy": "Release this machine and inform the provider: its memory is defective.",
}
CHECKS = [
    {"name": "amdgpu driver", "ok": True, "detail": "6.16.13 with ROCm 7.2.1"},
    {"name": "/dev/kfd", "ok": True, "detail": "uid 0, gid 109, mode 0660"},
    FAILED_CHECK,
    {
        "name": "power cap",
        "ok": False,
        "required": False,
        "detail": "500 of 750 W",
        "remedy": "Kernels are slower under a lower cap.",
    },
]
_BILLING = Billing(rate_usd_per_h=RATE_USD_PER_H)


@dataclass(frozen=True, kw_only=True)
class _Shift:
    """The use of one VM."""

    number: int
    begin: float
    tasks: int


def write_usage_history(data_dir: Path, days: int = DAYS) -> None:
    """Write the usage history. The service must not be running."""

    async def write() -> None:
        store = await open_store(Settings(data_dir=data_dir))
        now = time.time()
        try:
            for shift in _shifts(now, days):
                await store.database.write(_live, shift)
        finally:
            await store.close()

    # In a thread, since Playwright's event loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(write())).result()


def write_failed_vm(data_dir: Path) -> None:
    """Write a VM that was not healthy when it booted three hours ago. The service must not be running."""
    created_at = time.time() - 3 * 3600
    vm = VMInstance(
        id="vm_failed0001",
        provider="local",
        gpu="MI300X",
        state=VMState.SHUTTING_DOWN,
        created_at=created_at,
        started_at=created_at,
        failed=True,
        reason=f"The VM cannot judge: {FAILED_CHECK['name']}: {FAILED_CHECK['detail']}.",
        report={"devices": [DEVICE], "gpu_health": {"ok": False, "summary": "", "checks": CHECKS}},
    )

    def write(conn: Connection) -> None:
        ended, entries = meter_until(vm, _BILLING, created_at + BOOT_S)
        vm_queries.save(conn, ended.end(created_at + BOOT_S))
        ledger_queries.add(conn, entries)

    async def write_to_store() -> None:
        store = await open_store(Settings(data_dir=data_dir))
        await store.database.write(write)
        await store.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(write_to_store())).result()


def _shifts(now: float, days: int) -> list[_Shift]:
    return [
        _Shift(
            number=10 * day + place,
            begin=now - day * _DAY_S - hours * 3600,
            # Some days are busier than others; the first days are quiet.
            tasks=max(2, tasks * (1 + (day * 7) % 5) // 4 - day // 2),
        )
        for day in range(days)
        for place, (hours, tasks) in enumerate(_SHIFTS)
        if (day + place) % 3 or day == 0
    ]


def _live(c: Connection, shift: _Shift) -> None:
    """Write a VM from request to termination, with its submissions and ledger entries."""
    vm = VMInstance(
        id=f"vm_past{shift.number:04d}",
        provider="local",
        gpu="MI300X",
        state=VMState.IDLE,
        created_at=shift.begin,
        started_at=shift.begin + 4,
        ready_at=shift.begin + BOOT_S,
        simulated=True,
        escrow_usd=Decimal(2),
    )
    at = shift.begin + BOOT_S
    for number in range(shift.tasks):
        seconds = 6.0 + (number * 13) % 29
        vm = _task(c, vm, shift, number, at=at, seconds=seconds)
        at += seconds + (number * 97) % 240
    vm, entries = meter_until(vm, _BILLING, at + KEPT_S)
    ledger_queries.add(c, entries)
    vm_queries.save(
        c,
        replace(
            vm,
            state=VMState.TERMINATED,
            ended_at=at + KEPT_S,
            reason=f"idle for {KEPT_S:.0f} s",
            tasks_done=shift.tasks,
        ),
    )


def _task(
    c: Connection, vm: VMInstance, shift: _Shift, number: int, *, at: float, seconds: float
) -> VMInstance:
    """Write one submission on a VM: its wait, its attempt and its verdict."""
    new = NewSubmission(
        id=f"sub_past{shift.number:04d}x{number}",
        owner=USERS[(number * number + shift.number) % len(USERS)],
        problem=("relu", "softmax", "leaky-relu")[number % 3],
        gpu=vm.gpu,
        dtype="float32",
        language="hip",
        endpoint="checker",
        file_name="solution.hip",
        code="// of the past\n",
        created_at=shift.begin if number == 0 else at - 0.4,
    )
    submission_queries.create(
        c, new, {"status": "IN_QUEUE", "submission_id": new.id, "position": 0, "quote": {}}
    )
    event_queries.admit(c, new.id, {"status": "XRAY"}, new.created_at)
    attempt = AttemptRecord(id=f"att_{new.id}", submission_id=new.id, vm_id=vm.id, number=1, started_at=at)
    attempt_queries.begin(c, attempt, {"status": "VM_READY"}, cold=number == 0)
    vm, entries = meter_until(vm, _BILLING, at, submission_id=new.id, owner=new.owner, pays_boot=number == 0)
    ledger_queries.add(c, entries)
    entries = charge_work(vm, _BILLING, at, at + seconds, submission_id=new.id, owner=new.owner)
    vm, idle = meter_until(vm, _BILLING, at + seconds, busy_since=[at])
    ledger_queries.add(c, entries + idle)
    verdict = {
        "status": "CHECKED",
        "test_results": [],
        "passed_tests": 9,
        "total_tests": 9,
        "simulated": True,
    }
    event_queries.complete(
        c,
        new.id,
        verdict,
        at + seconds,
        attempt_id=attempt.id,
        cost_usd=ledger_queries.of_submission(c, new.id),
    )
    return vm
