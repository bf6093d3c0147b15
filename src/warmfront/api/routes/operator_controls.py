"""The operators' controls: actions on VMs, the intake, and limits. Each change is in the audit log."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Query

from warmfront.api.deps import CallerDep, OperatorDep, ServiceDep
from warmfront.api.error_responses import InvalidField
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes.vms import vm_response
from warmfront.errors import BadSetting
from warmfront.runtime_settings import RUNTIME_FIELDS, allowed_values, text_of, variable_of
from warmfront.store.records import IntakeMode
from warmfront.wire.operator_controls import (
    ActionEffectResponse,
    ActionsResponse,
    IntakeRequest,
    IntakeResponse,
    LimitEffectResponse,
    LimitResponse,
    LimitsRequest,
    LimitsResponse,
    PinRequest,
    VmActionsResponse,
)
from warmfront.wire.vms import VmResponse

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.orchestrator.action_effects import ActionEffect
    from warmfront.vm import VMInstance

router = APIRouter(tags=["operators"])

#: A pin may end at most this long from now.
_MAX_PIN_S = 30 * 86400.0
VmId = Annotated[str, Path(max_length=100)]


# VMs.


@router.get("/vms/{vm_id}/actions", responses=error_responses_for(404, 409, 422))
async def get_vm_actions(
    service: ServiceDep,
    _operator: OperatorDep,
    vm_id: VmId,
    pin_until: Annotated[str | None, Query(max_length=40, description="The end of a pin.")] = None,
) -> VmActionsResponse:
    """Return what each action on a VM would save or cost. For operators."""
    until = None if pin_until is None else _future(service, "pin_until", pin_until)
    effects = await service.orchestrator.vm_controls.effects(vm_id, until)
    return VmActionsResponse(
        vm_id=vm_id, items=[ActionEffectResponse.model_validate(asdict(effect)) for effect in effects]
    )


@router.post("/vms/{vm_id}/release", responses=error_responses_for(404, 409, 413, 422))
async def release_vm(service: ServiceDep, operator: OperatorDep, vm_id: VmId) -> VmResponse:
    """End a VM now; its attempts start again on another VM. For operators."""
    vm = await service.orchestrator.vm_controls.release(vm_id, operator.actor)
    return await _shown(service, operator, vm)


@router.post("/vms/{vm_id}/drain", responses=error_responses_for(404, 409, 413, 422))
async def drain_vm(service: ServiceDep, operator: OperatorDep, vm_id: VmId) -> VmResponse:
    """Let a VM finish its attempts, give it no new ones, and then end it. For operators."""
    vm = await service.orchestrator.vm_controls.drain(vm_id, operator.actor)
    return await _shown(service, operator, vm)


@router.post("/vms/{vm_id}/pin", responses=error_responses_for(402, 404, 409, 413, 415, 422))
async def pin_vm(service: ServiceDep, operator: OperatorDep, vm_id: VmId, body: PinRequest) -> VmResponse:
    """Keep a VM until a time, whatever the keep-warm policy decides. For operators."""
    until = _future(service, "until", body.until)
    vm = await service.orchestrator.vm_controls.pin(vm_id, until, operator.actor)
    return await _shown(service, operator, vm)


@router.post("/vms/{vm_id}/unpin", responses=error_responses_for(404, 409, 413, 422))
async def unpin_vm(service: ServiceDep, operator: OperatorDep, vm_id: VmId) -> VmResponse:
    """End the pin of a VM. For operators."""
    vm = await service.orchestrator.vm_controls.unpin(vm_id, operator.actor)
    return await _shown(service, operator, vm)


async def _shown(service: ServiceContext, caller: Caller, vm: VMInstance) -> VmResponse:
    _, _, running = await service.store.vm_with_entries(vm.id)
    return vm_response(service, caller, vm, Decimal(0), running)


def _future(service: ServiceContext, field: str, text: str) -> float:
    """Return a time in the future as seconds since 1970, or raise `InvalidField`."""
    allowed = "an ISO 8601 time with a time zone, in the future and at most 30 days away"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidField(field, text, allowed) from None
    if moment.tzinfo is None or not 0 < moment.timestamp() - service.clock.now() <= _MAX_PIN_S:
        raise InvalidField(field, text, allowed)
    return moment.timestamp()


# The intake.


@router.get("/intake", responses=error_responses_for())
async def get_intake(service: ServiceDep, _caller: CallerDep) -> IntakeResponse:
    """Return whether submissions are accepted and run."""
    return intake_response(service)


def intake_response(service: ServiceContext) -> IntakeResponse:
    """Return the state of the intake."""
    state = service.orchestrator.intake.state
    return IntakeResponse(mode=state.mode, reason=state.reason, by=state.by, since=state.since or None)


@router.get("/intake/actions", responses=error_responses_for(422))
async def get_intake_actions(
    service: ServiceDep,
    _operator: OperatorDep,
    mode: Annotated[Literal["queue", "refuse"], Query(description="How to pause the intake.")] = "queue",
) -> ActionsResponse:
    """Return what pausing or resuming the intake would save or cost. For operators."""
    effects = service.orchestrator.action_effects
    return actions_response(effects.pause(IntakeMode(mode)), effects.resume())


def actions_response(*effects: ActionEffect) -> ActionsResponse:
    """Return the effects of actions."""
    return ActionsResponse(items=[ActionEffectResponse.model_validate(asdict(effect)) for effect in effects])


@router.post("/intake/pause", responses=error_responses_for(413, 415, 422))
async def pause_intake(service: ServiceDep, operator: OperatorDep, body: IntakeRequest) -> IntakeResponse:
    """Pause the intake: submissions wait in the queue, or are refused. For operators."""
    await service.orchestrator.intake.pause(IntakeMode(body.mode), body.reason, operator.actor)
    return await get_intake(service, operator)


@router.post("/intake/resume", responses=error_responses_for(409, 413, 422))
async def resume_intake(service: ServiceDep, operator: OperatorDep) -> IntakeResponse:
    """Resume the intake. For operators."""
    await service.orchestrator.intake.resume(operator.actor)
    return await get_intake(service, operator)


# Limits.


@router.get("/limits", responses=error_responses_for())
async def get_limits(service: ServiceDep, _operator: OperatorDep) -> LimitsResponse:
    """Return the limits that can be changed at run time. For operators."""
    return _limits(service, [])


@router.post("/limits", responses=error_responses_for(409, 413, 415, 422))
async def change_limits(service: ServiceDep, operator: OperatorDep, body: LimitsRequest) -> LimitsResponse:
    """Change limits at run time; a restart keeps them. For operators."""
    limits = service.orchestrator.limits
    for name in body.changes:
        if name not in RUNTIME_FIELDS:
            raise InvalidField("changes", name, f"names such as {', '.join(RUNTIME_FIELDS)}")
    try:
        effects = limits.preview(body.changes)
        if not body.dry_run:
            await limits.change(body.changes, body.reason, operator.actor)
    except BadSetting as error:
        name = next(name for name in body.changes if error.message.startswith(f"{variable_of(name)} "))
        raise InvalidField(f"changes.{name}", body.changes[name], allowed_values(name)) from None
    return _limits(service, [LimitEffectResponse.model_validate(asdict(effect)) for effect in effects])


def _limits(service: ServiceContext, effects: list[LimitEffectResponse]) -> LimitsResponse:
    limits = service.orchestrator.limits
    return LimitsResponse(
        items=[
            LimitResponse(
                name=name,
                variable=variable_of(name),
                value=text_of(limits.current, name),
                configured=text_of(limits.configured, name),
                changed=name in limits.changed,
                allowed=allowed_values(name),
            )
            for name in RUNTIME_FIELDS
        ],
        effects=effects,
    )
