"""The end of a VM: request it until it is confirmed, and meter the VM up to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from warmfront.money.billing import charge_work, meter_until
from warmfront.providers.base import locate

if TYPE_CHECKING:
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.providers.base import Lease, Provider
    from warmfront.store.records import LedgerEntry
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

#: Exponential backoff between requests to end a VM, and the time that one request may take.
_FIRST_BACKOFF_S = 1.0
_LONGEST_BACKOFF_S = 30.0
_RELEASE_TIMEOUT_S = 60.0
#: The cancellation of a boot is repeated this often until it has taken effect.
_CANCEL_AGAIN_S = 1.0


async def stop_boot(pooled: PooledVM) -> None:
    """Stop provisioning a VM, so that it cannot be requested after its end is confirmed."""
    while pooled.boot is not None and not pooled.boot.done():
        pooled.boot.cancel()
        # Cancel repeatedly: asyncio.wait_for loses a cancellation that arrives at the moment it
        # completes.
        await asyncio.wait([pooled.boot], timeout=_CANCEL_AGAIN_S)


async def ends_within(pooled: PooledVM, seconds: float) -> bool:
    """Wait at most this long for a VM to end; return whether it has ended."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(pooled.ended.wait(), max(0.0, seconds))
    return pooled.ended.is_set()


async def confirm_end(provider: Provider, vm_id: str) -> Lease:
    """Request the end of a VM, with exponential backoff, until the provider confirms it."""
    backoff_s = _FIRST_BACKOFF_S
    while True:
        try:
            async with asyncio.timeout(_RELEASE_TIMEOUT_S):
                return await provider.release(vm_id)
        except TimeoutError:
            log.warning("VM %s has not ended after %.0f s; still waiting", vm_id, _RELEASE_TIMEOUT_S)
        except Exception as error:  # noqa: BLE001 - a VM that is not ended costs money, whatever failed
            log.warning("VM %s could not be ended: %r; retrying in %.0f s", vm_id, error, backoff_s)
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _LONGEST_BACKOFF_S)


def settle(
    pooled: PooledVM, lease: Lease, *, budget: Budget, now: float, heartbeat_s: float
) -> tuple[VMInstance, list[LedgerEntry]]:
    """Return the ended VM and its last ledger entries, up to the end that its provider reports."""
    vm = pooled.vm
    ended_at = lease.ended_at if lease.ended_at is not None else now
    if lease.ended_after is not None:
        last_sign_at = max(lease.ended_after, pooled.answered_at or 0.0)
        ended_at = (min(last_sign_at, ended_at) + ended_at) / 2
    elif vm.preempted and not lease.end_confirmed and pooled.answered_at is not None:
        # Only heartbeats show when the cloud preempted the VM: before the first unanswered one.
        ended_at = min(ended_at, pooled.answered_at + heartbeat_s)
    if lease.started_at is not None:
        vm = locate(vm, lease, started_at=lease.started_at, address=vm.address)
    vm, entries = meter_lost(pooled, vm, ended_at, budget)
    return vm.end(ended_at, confirmed=lease.end_confirmed), entries


def meter_lost(
    pooled: PooledVM, vm: VMInstance, until: float, budget: Budget
) -> tuple[VMInstance, list[LedgerEntry]]:
    """Return the VM metered up to the loss of its attempts, and its ledger entries.

    A loss is not the owners' fault, so the pool is charged.
    """
    billing, since = budget.billing_of(vm), list(pooled.begun.values())
    vm, entries = meter_until(vm, billing, until, busy_since=since)
    if vm.ready_at is not None and until <= vm.ready_at:
        return vm, entries  # it ended unnoticed before it was ready, so no slot has a share
    for began_at in since:
        entries += charge_work(vm, billing, began_at, until, submission_id=None, owner=None)
    return vm, entries
