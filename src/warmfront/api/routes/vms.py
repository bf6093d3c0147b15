"""The routes of VMs: those of late, and one with all that was billed for it.

What runs on a VM is told to its owner and to operators; where its listener is, to nobody.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from warmfront.api import models, serialization
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import VMNotFound
from warmfront.money import meter
from warmfront.store import attempts, ledger, vms

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.store.records import LedgerEntry, Meter, Running
    from warmfront.vm import VMInstance

router = APIRouter(tags=["figures"])

#: VMs that are shown.
_SHOWN = 50


@router.get("/vms", responses=error_responses_for())
async def list_vms(service: ServiceDep, caller: CallerDep) -> models.Vms:
    """The VMs of late, the newest first, with what each came to so far and what it does now."""
    found, running = await service.store.read(_recent)
    return models.Vms(
        now=serialization.iso(service.clock.now()),
        items=[
            view(service, caller, vm, sum(by_meter.values(), Decimal(0)), running) for vm, by_meter in found
        ],
    )


@router.get("/vms/{vm_id}", responses=error_responses_for(404, 422))
async def get_vm(
    service: ServiceDep, caller: CallerDep, vm_id: Annotated[str, Path(max_length=100)]
) -> models.VmDetail:
    """One VM, with every interval that was billed for it."""
    vm, entries, running = await service.store.read(_one_with_ledger, vm_id)
    total_usd = sum((entry.amount_usd for entry in entries), Decimal(0))
    return models.VmDetail(
        **view(service, caller, vm, total_usd, running).model_dump(),
        intervals=[_interval(entry) for entry in entries],
    )


def view(
    service: ServiceContext, caller: Caller, vm: VMInstance, billed_usd: Decimal, running: list[Running]
) -> models.Vm:
    """A VM as this caller may see it; the ledger has its intervals up to the last one that ended."""
    cost_usd = billed_usd
    if not vm.state.is_over:
        cost_usd = meter.accrued_usd(vm, service.provider.billing(vm.gpu), service.clock.now())
    return models.Vm(
        id=vm.id,
        provider=vm.provider,
        gpu_type=vm.gpu,
        state=vm.state.value,
        simulated=vm.simulated,
        created_at=serialization.iso(vm.created_at),
        started_at=serialization.iso_or_none(vm.started_at),
        ready_at=serialization.iso_or_none(vm.ready_at),
        deadline_at=serialization.iso_or_none(vm.deadline_at),
        ended_at=serialization.iso_or_none(vm.ended_at),
        tasks_done=vm.tasks_done,
        cost_usd=serialization.dollars(cost_usd),
        reserved_usd=serialization.dollars(Decimal(0) if vm.state.is_over else vm.escrow_usd),
        reason=vm.reason,
        tasks=[_task(each, caller) for each in running if each.vm_id == vm.id],
    )


def recent_with_costs(c: Connection) -> list[tuple[VMInstance, dict[Meter, Decimal]]]:
    """The last VMs, each with what the ledger has of it."""
    recent = vms.recent(c, _SHOWN)
    spent = ledger.by_vm(c, [vm.id for vm in recent])
    return [(vm, spent.get(vm.id, {})) for vm in recent]


def _recent(c: Connection) -> tuple[list[tuple[VMInstance, dict[Meter, Decimal]]], list[Running]]:
    return recent_with_costs(c), attempts.running(c)


def _one_with_ledger(c: Connection, vm_id: str) -> tuple[VMInstance, list[LedgerEntry], list[Running]]:
    vm = vms.get(c, vm_id)
    if vm is None:
        raise VMNotFound(vm_id)
    return vm, ledger.entries(c, vm_id), attempts.running(c)


def _interval(entry: LedgerEntry) -> models.Interval:
    return models.Interval(
        meter=entry.meter.value,
        started_at=serialization.iso(entry.started_at),
        ended_at=serialization.iso(entry.ended_at),
        cost_usd=serialization.dollars(entry.amount_usd),
        submission_id=entry.submission_id,
    )


def _task(running: Running, caller: Caller) -> models.VmTask:
    if not caller.may_see(running.owner):
        return models.VmTask(since=serialization.iso(running.started_at))
    return models.VmTask(
        since=serialization.iso(running.started_at),
        submission_id=running.submission_id,
        user=running.owner,
        problem=running.problem,
        endpoint=running.endpoint,
    )
