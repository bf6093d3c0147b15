"""Turn dstack's reason for a failed boot into a `ProviderError`, whose kind decides what happens next.

dstack reports a missing fleet, a full fleet, a price limit, a refused key, a quota, missing credits and a
cloud without capacity as the same reason. This module distinguishes them by the fleet, by dstack's plan for
it, and by the wording of the cloud's response, which dstack keeps only as text.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from typing import TYPE_CHECKING

from warmfront.errors import (
    DstackDenied,
    DstackFailed,
    DstackUnreachable,
    FleetFailed,
    NoBackend,
    NoCapacity,
    NoCredits,
    NoOffers,
    NoQuota,
    ProviderError,
    TooExpensive,
    WarmfrontError,
)
from warmfront.providers.dstack import fleet_setup, ssh_fleet
from warmfront.providers.dstack.fleet_terms import in_terms_of
from warmfront.providers.dstack.run_outcome import RunOutcome, why_no_capacity
from warmfront.provisioning import FailureKind

if TYPE_CHECKING:
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackFleet, DstackRun
    from warmfront.settings import Settings

#: The most characters of the worker's last line, or of the cloud's response, that an error quotes.
_MAX_LINE = 500

#: Why a VM could not be provisioned, for outcomes that imply the reason; users see this too.
_FAILURES: dict[RunOutcome, tuple[FailureKind, str]] = {
    RunOutcome.DONE: (FailureKind.OTHER, "The worker exited"),
    RunOutcome.EXITED: (FailureKind.WORKER_FAILED, "The worker failed"),
    RunOutcome.TIMED_OUT: (FailureKind.OTHER, "The worker exceeded AMD_VM_MAX_DURATION"),
    RunOutcome.STOPPED: (FailureKind.OTHER, "The run was stopped"),
    RunOutcome.STOPPING: (FailureKind.OTHER, "The run is being stopped"),
    RunOutcome.LOST: (FailureKind.OTHER, "The VM was interrupted or became unreachable"),
    RunOutcome.NO_FLEET: (FailureKind.NO_FLEET, "The fleet {fleet} does not exist"),
    RunOutcome.BAD_IMAGE: (
        FailureKind.BAD_IMAGE,
        "The container of WARMFRONT_WORKER_IMAGE could not be created",
    ),
    RunOutcome.BOOT_FAILED: (FailureKind.OTHER, "The VM booted, but dstack's agent on it did not start"),
    RunOutcome.BROKEN: (FailureKind.OTHER, "dstack failed"),
}
#: Hints for the operator.
_HINTS = {
    FailureKind.NO_CAPACITY: "Wait, or add a backend to the dstack project and to AMD_BACKEND.",
    FailureKind.FLEET_FULL: "Raise AMD_FLEET_MAX_NODES and run `warmfront fleet create`; `warmfront fleet "
    "show` lists the VMs that count.",
    FailureKind.NO_QUOTA: "Request a larger quota from the cloud, or end unused VMs of the account.",
    FailureKind.NO_CREDITS: "Add credits to the account on the billing page of the cloud or of dstack Sky.",
    FailureKind.DENIED: "Check the API key of the backend in the dstack server's config.yml, and whether the "
    "account may create such VMs.",
    FailureKind.WORKER_FAILED: "`dstack logs` shows the worker's output.",
    FailureKind.NO_FLEET: "Create it with `warmfront fleet create`.",
    FailureKind.BAD_IMAGE: "Check that the VM can pull the image.",
}
#: Patterns of clouds' messages, most specific first. AMD Developer Cloud responds like DigitalOcean.
_ANSWERS: tuple[tuple[re.Pattern[str], FailureKind, str], ...] = tuple(
    (re.compile(words, re.IGNORECASE), kind, message)
    for words, kind, message in (
        (
            r"\b402\b|insufficient (funds|balance|credit)|(no|enough) (credit|balance)|payment|billing",
            FailureKind.NO_CREDITS,
            "The account of {backend} has no credits left",
        ),
        (
            r"quota|(droplet|vm|instance|machine|account) limit|limit (exceeded|reached)|exceed\w* your",
            FailureKind.NO_QUOTA,
            "The account of {backend} has reached its quota of VMs",
        ),
        (
            r"\b401\b|unauthori[sz]ed|unable to authenticate|invalid (api )?(key|token|credential)",
            FailureKind.DENIED,
            "{backend} rejects the API key of the dstack server",
        ),
        (
            r"\b403\b|forbidden|not authori[sz]ed|permission denied",
            FailureKind.DENIED,
            "{backend} does not allow the account to create such a VM",
        ),
        (
            r"\b429\b|too many requests|rate limit",
            FailureKind.UNREACHABLE,
            "The rate limit of the API of {backend} is exceeded",
        ),
        (
            r"\b5\d\d (server )?error|internal server error|bad gateway|service unavailable|timed out",
            FailureKind.UNREACHABLE,
            "The API of {backend} is failing",
        ),
    )
)
#: dstack's explanation if it finds no fleet for a run, or only full ones.
_NO_FLEET_FOUND = "Failed to use specified fleets"
#: The text that precedes the cloud's responses in dstack's explanation.
_ANSWERS_PREFIX = "Errors: "
#: Errors of a plan for the fleet, most specific first.
_PLAN_ERRORS: tuple[tuple[type[FleetFailed], FailureKind], ...] = (
    (NoBackend, FailureKind.NO_BACKEND),
    (TooExpensive, FailureKind.TOO_EXPENSIVE),
    (NoOffers, FailureKind.NO_OFFERS),
    (NoQuota, FailureKind.NO_QUOTA),
    (NoCredits, FailureKind.NO_CREDITS),
    (NoCapacity, FailureKind.NO_CAPACITY),
)


async def lost_race_for_fleet(
    client: DstackClient, settings: Settings, run: DstackRun, outcome: RunOutcome
) -> bool:
    """Return whether dstack failed to find the fleet although it exists and is not full.

    dstack searches fleets with VMs first, and then those without VMs. It misses a fleet that gets its first
    VM, for another run, between the two searches. Such a run has no VM and can be submitted again.
    """
    if outcome is not RunOutcome.NO_CAPACITY or run.instance_id is not None:
        return False
    if run.job_termination_message != _NO_FLEET_FOUND:
        return False
    return why_no_capacity(await client.fleet(settings.fleet_name)) is RunOutcome.NO_CAPACITY


async def boot_error(
    client: DstackClient, settings: Settings, run: DstackRun, outcome: RunOutcome
) -> ProviderError:
    """Return why the VM of a run that has ended could not be provisioned."""
    return in_terms_of(settings, await _boot_error(client, settings, run, outcome))


async def _boot_error(
    client: DstackClient, settings: Settings, run: DstackRun, outcome: RunOutcome
) -> ProviderError:
    detail = _detail(run)
    if outcome is RunOutcome.NO_CAPACITY:
        fleet = await client.fleet(settings.fleet_name)
        outcome = why_no_capacity(fleet)
        if outcome is RunOutcome.NO_CAPACITY:
            return await _no_capacity_error(client, settings, run, detail)
        if outcome is RunOutcome.FLEET_FULL and fleet is not None:
            return _full_fleet(settings, fleet)
    if outcome in {RunOutcome.EXITED, RunOutcome.DONE}:
        detail = await _last_line(client, run.name) or detail
    kind, failure = _FAILURES.get(outcome, (FailureKind.OTHER, "dstack ended the run"))
    failure = failure.format(fleet=settings.fleet_name)
    hint = "Check the dstack server's log." if outcome is RunOutcome.BROKEN else _HINTS.get(kind)
    return ProviderError(_with_detail(failure, detail), hint=hint, kind=kind)


async def check_ready(client: DstackClient, settings: Settings) -> None:
    """Check whether a VM can be requested, without costs.

    Raises:
        ProviderError: The server does not respond, the fleet is missing or full, or SSH is unusable.
    """
    require_ssh()
    try:
        fleet = await client.fleet(settings.fleet_name)
    except (DstackUnreachable, DstackFailed) as error:
        raise ProviderError(error.message, hint=error.hint, kind=FailureKind.UNREACHABLE) from None
    except DstackDenied as error:
        raise ProviderError(error.message, hint=error.hint, kind=FailureKind.DENIED) from None
    outcome = why_no_capacity(fleet)
    if outcome is RunOutcome.FLEET_FULL and fleet is not None:
        raise in_terms_of(settings, _full_fleet(settings, fleet))
    if outcome is not RunOutcome.NO_CAPACITY:
        kind, failure = _FAILURES[outcome]
        message = f"{failure.format(fleet=settings.fleet_name)}."
        raise in_terms_of(settings, ProviderError(message, hint=_HINTS.get(kind), kind=kind))


def require_ssh() -> None:
    """Check that the SSH client, through which every VM is reached, can be loaded.

    Raises:
        ProviderError: It cannot be loaded.
    """
    try:
        importlib.import_module("asyncssh")
    except ImportError as error:
        raise ProviderError(
            f"The service cannot reach VMs through SSH: asyncssh cannot be loaded ({error}).",
            hint="Install dstack's client again; `warmfront doctor` prints the command.",
            kind=FailureKind.NO_SSH,
        ) from None


def not_reachable(settings: Settings, message: str) -> ProviderError:
    """Return the error for a VM that dstack can reach and this machine cannot."""
    return ProviderError(
        f"The VM runs, but this machine cannot reach it. {message}",
        hint=ssh_hint(settings),
        kind=FailureKind.NO_SSH,
    )


def ssh_hint(settings: Settings) -> str:
    """Return the hint for a machine that cannot reach VMs through SSH."""
    allow = "The service connects to each VM itself: allow SSH from this machine to the VM or its jump host."
    if settings.fleet_hosts:
        return f"{allow} Where that is impossible, run the service on a machine that can reach the hosts."
    return (
        f"{allow} Where that is impossible, set WARMFRONT_DSTACK_MODE=direct: submissions then go through "
        "the dstack server, which is slower."
    )


def kind_of_answer(detail: str) -> tuple[FailureKind, str] | None:
    """Return the kind of failure in the cloud's responses, and its message; None if they do not show it.

    dstack joins the responses for several offers. A response that is not a refusal is a shortage, which is
    temporary. If one of several responses is temporary, so is the failure.
    """
    found = [
        next(((kind, message) for words, kind, message in _ANSWERS if words.search(answer)), None)
        for answer in detail.split("; ")
    ]
    known = [answer for answer in found if answer is not None]
    if len(known) < len(found):
        return None
    return next((answer for answer in known if answer[0].is_shortage), known[0])


def _detail(run: DstackRun) -> str:
    """Return dstack's explanation in one line: the cloud's responses, if it contains any."""
    lines = (run.job_termination_message or run.error or "").splitlines() or [""]
    answers = next((line for line in lines if line.startswith(_ANSWERS_PREFIX)), lines[0])
    return answers.removeprefix(_ANSWERS_PREFIX).rstrip(".")


async def _no_capacity_error(
    client: DstackClient, settings: Settings, run: DstackRun, detail: str
) -> ProviderError:
    """Return why no VM could be created on a fleet that exists and is not full."""
    if settings.fleet_hosts:
        return _no_free_host(settings, await client.fleet(settings.fleet_name), FailureKind.NO_CAPACITY)
    backend = " and ".join(settings.backends)
    gpu = settings.gpu_type if settings.is_of_cpu_fleet else run.gpu or settings.default_gpu
    answer = kind_of_answer(detail)
    if answer is not None:
        kind, message = answer
        named = [name for name in settings.backends if f" in {name}/" in detail]
        backend = " and ".join(named) or backend
        return ProviderError(
            _with_detail(message.format(backend=backend), detail), hint=_HINTS.get(kind), kind=kind
        )
    planned = await _plan_error(client, dataclasses.replace(settings, gpu_type=gpu))
    if planned is not None:
        kind = next(kind for error, kind in _PLAN_ERRORS if isinstance(planned, error))
        if kind is not FailureKind.NO_CAPACITY:
            return ProviderError(planned.message, hint=planned.hint or _HINTS.get(kind), kind=kind)
    backend = backend.replace(" and ", " or ")
    return ProviderError(
        _with_detail(
            f"No {'CPU node' if settings.is_of_cpu_fleet else gpu} is available on {backend}", detail
        ),
        hint=_HINTS[FailureKind.NO_CAPACITY],
        kind=FailureKind.NO_CAPACITY,
    )


def _full_fleet(settings: Settings, fleet: DstackFleet) -> ProviderError:
    """Return the error for a fleet that has its maximum number of VMs, or whose hosts are all in use."""
    kind = FailureKind.FLEET_FULL
    if fleet.is_ssh:
        return _no_free_host(settings, fleet, kind)
    hint = _HINTS[kind]
    if fleet.max_nodes is not None and fleet.max_nodes < settings.fleet_max_nodes:
        hint = (
            f"`warmfront fleet create` applies AMD_FLEET_MAX_NODES={settings.fleet_max_nodes} to it; "
            "`warmfront fleet show` lists the VMs that count, and those of other services."
        )
    vms = "1 VM" if fleet.max_nodes == 1 else f"{fleet.max_nodes} VMs"
    message = f"The fleet {fleet.name} has reached its limit of {vms} (AMD_FLEET_MAX_NODES)."
    return ProviderError(message, hint=hint, kind=kind)


def _no_free_host(settings: Settings, fleet: DstackFleet | None, kind: FailureKind) -> ProviderError:
    """Return the error for an SSH fleet without a free host, with the state of each host."""
    states = ssh_fleet.summarize(ssh_fleet.host_states(fleet, settings)) if fleet else ""
    return ProviderError(
        _with_detail("No host of the fleet is free", states),
        hint="Wait until one is; `warmfront fleet verify` shows the problem of each host. To add one, "
        "add it to AMD_FLEET_HOSTS and run `warmfront fleet create`.",
        kind=kind,
    )


async def _plan_error(client: DstackClient, settings: Settings) -> FleetFailed | None:
    """Return why dstack's plan for the fleet has no VM; None if it has one or cannot be made."""
    try:
        proposal = await fleet_setup.propose(client, settings)
    except FleetFailed as error:
        return error
    except WarmfrontError:
        return None
    return fleet_setup.unavailability(proposal.plan)


async def _last_line(client: DstackClient, run_name: str) -> str:
    """Return the last line of the worker's output, which says why it ended; empty if there is none."""
    try:
        output = await client.logs(run_name)
    except WarmfrontError:
        return ""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    last = "".join(character for character in lines[-1] if character.isprintable()) if lines else ""
    return last[:_MAX_LINE].rstrip(".")


def _with_detail(failure: str, detail: str) -> str:
    return f"{failure}{f' ({detail[:_MAX_LINE]})' if detail else ''}."
