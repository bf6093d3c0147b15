"""The recent VMs, and one VM with its ledger entries.

Only its owner and operators see which submission runs on a VM. The address of a VM's listener is not exposed.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Path
from pydantic import ValidationError

from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import VMNotFound
from warmfront.money.billing import accrued_usd
from warmfront.providers.base import billing_of
from warmfront.verdicts import Endpoint
from warmfront.wire.vms import (
    BilledInterval,
    ForeignVmResponse,
    VmDetailResponse,
    VmDevice,
    VmHealth,
    VmListResponse,
    VmResponse,
    VmTask,
)

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.store.records import RunningAttempt
    from warmfront.vm import VMInstance

router = APIRouter(tags=["operations"])

_Model = TypeVar("_Model", VmDevice, VmHealth)


@router.get("/vms", responses=error_responses_for())
async def list_vms(service: ServiceDep, caller: CallerDep) -> VmListResponse:
    """List the most recent VMs, newest first, with their costs and running submissions."""
    recent, running = await service.store.recent_vms()
    return VmListResponse(
        now=service.clock.now(),
        items=[
            vm_response(service, caller, vm, sum(by_meter.values(), Decimal(0)), running)
            for vm, by_meter in recent
        ],
        foreign=foreign_vms(service, caller),
    )


@router.get("/vms/{vm_id}", responses=error_responses_for(404, 422))
async def get_vm(
    service: ServiceDep, caller: CallerDep, vm_id: Annotated[str, Path(max_length=100)]
) -> VmDetailResponse:
    """Return one VM with its ledger entries."""
    vm, entries, running = await service.store.vm_with_entries(vm_id)
    if vm is None:
        raise VMNotFound(vm_id)
    total_usd = sum((entry.amount_usd for entry in entries), Decimal(0))
    return VmDetailResponse(
        **dict(vm_response(service, caller, vm, total_usd, running)),
        intervals=[
            BilledInterval(
                meter=entry.meter,
                started_at=entry.started_at,
                ended_at=entry.ended_at,
                cost_usd=entry.amount_usd,
                submission_id=entry.submission_id,
            )
            for entry in entries
        ],
    )


def foreign_vms(service: ServiceContext, caller: Caller) -> list[ForeignVmResponse]:
    """Return the foreign VMs that the last reconciliation found, for operators."""
    if not caller.is_operator:
        return []
    return [ForeignVmResponse.model_validate(asdict(vm)) for vm in service.provider.foreign_vms]


def vm_response(
    service: ServiceContext,
    caller: Caller,
    vm: VMInstance,
    billed_usd: Decimal,
    running: list[RunningAttempt],
) -> VmResponse:
    """Return a VM with the fields that the caller may see; `billed_usd` is the sum of its ledger entries."""
    cost_usd = billed_usd
    tasks = [_vm_task(attempt, caller) for attempt in running if attempt.vm_id == vm.id]
    if not vm.state.has_ended:
        cost_usd = accrued_usd(vm, billing_of(service.provider, vm), service.clock.now())
    return VmResponse(
        id=vm.id,
        provider=vm.provider,
        gpu_type=vm.gpu,
        gpu_count=vm.gpu_count,
        slots=vm.slots,
        slots_used=len(tasks),
        state=vm.state,
        simulated=vm.simulated,
        created_at=vm.created_at,
        started_at=vm.started_at,
        ready_at=vm.ready_at,
        deadline_at=vm.deadline_at,
        ended_at=vm.ended_at,
        end_confirmed=vm.end_confirmed,
        machine_id=vm.machine_id,
        tasks_done=vm.tasks_done,
        draining=vm.draining,
        pinned_until=vm.pinned_until,
        rate_usd_per_h=billing_of(service.provider, vm).rate_usd_per_h,
        cost_usd=cost_usd,
        reserved_usd=Decimal(0) if vm.state.has_ended else vm.escrow_usd,
        reason=vm.reason,
        tasks=tasks,
        devices=_parsed(VmDevice, vm.report.get("devices") or []),
        gpu_health=next(iter(_parsed(VmHealth, [vm.report.get("gpu_health")])), None),
    )


def _parsed(model: type[_Model], items: list[Any]) -> list[_Model]:
    """Return the items that match the model. They come from a VM's listener and are untrusted."""
    parsed = []
    for item in items:
        with contextlib.suppress(ValidationError):
            parsed.append(model.model_validate(item))
    return parsed


def _vm_task(running: RunningAttempt, caller: Caller) -> VmTask:
    if not caller.may_see(running.owner):
        return VmTask(since=running.started_at, slot=running.slot)
    return VmTask(
        since=running.started_at,
        slot=running.slot,
        submission_id=running.submission_id,
        user=running.owner,
        problem=running.problem,
        endpoint=Endpoint(running.endpoint),
    )
