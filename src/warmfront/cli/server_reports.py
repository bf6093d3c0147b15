"""`warmfront ps`, `stop`, `vms`, `metrics` and `cost`: what a server has, and what it came to.

Only shows: every figure is the server's.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.cli.formatting import duration, print_columns, print_json
from warmfront.cli.server_access import PAGE, ask, find, listed
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.client import AsyncClient, Costs, Submission, Vm

#: In the order that a submission takes: one that moves on meanwhile is seen later, not missed.
_UNFINISHED = ("ADMITTING", "QUEUED", "ASSIGNED", "RUNNING")
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 30


def ps(*, finished: bool, everyone: bool, as_json: bool) -> int:
    """List submissions: those under way, or the latest of all."""

    async def work(client: AsyncClient) -> int:
        found: dict[str, Submission] = {}
        for state in (None,) if finished else _UNFINISHED:
            async for item in listed(client, state=state, everyone=everyone):
                found[item.id] = item
                if len(found) >= PAGE and finished:
                    break
        items = sorted(found.values(), key=lambda item: -item.created_at)
        if as_json:
            print_json([item.to_json() for item in items])
        else:
            print_columns([_PS_HEADING, *map(_ps_row, items)])
        return 0

    return ask(work, as_json=as_json)


_PS_HEADING = ("ID", "OWNER", "PROBLEM", "ENDPOINT", "GPU", "STATUS", "AGE", "MS", "COST")


def _ps_row(item: Submission) -> tuple[str, ...]:
    return (
        item.id,
        item.owner,
        item.problem,
        item.endpoint,
        f"{item.gpu_type} (simulated)" if item.simulated else item.gpu_type,
        item.verdict or item.state,
        duration(time.time() - item.created_at),
        "" if item.avg_runtime_ms is None else f"{item.avg_runtime_ms:.4g}",
        "" if item.cost_usd is None else f"${item.cost_usd:.4f}",
    )


def stop(beginning: str, *, as_json: bool) -> int:
    """Cancel a submission, and return when nothing of it runs any more."""

    async def work(client: AsyncClient) -> int:
        ended = await client.cancel((await find(client, beginning)).id)
        if as_json:
            print_json(ended.to_json())
        else:
            print(f"{ended.id}  {ended.verdict}")
        return 0

    return ask(work, as_json=as_json)


def vms(*, finished: bool, as_json: bool) -> int:
    """List the VMs there are, or those that were of late too."""

    async def work(client: AsyncClient) -> int:
        found = [vm for vm in await client.vms() if finished or not VMState(vm.state).is_over]
        if as_json:
            print_json([vm.to_json() for vm in found])
        else:
            print_columns([_VMS_HEADING, *map(_vm_row, found)])
        return 0

    return ask(work, as_json=as_json)


_VMS_HEADING = ("ID", "STATE", "GPU", "PROVIDER", "AGE", "BOOT", "TASKS", "COST", "NOTE")


def _vm_row(vm: Vm) -> tuple[str, ...]:
    return (
        vm.id,
        vm.state,
        f"{vm.gpu_type} (simulated)" if vm.simulated else vm.gpu_type,
        vm.provider,
        duration((vm.ended_at or time.time()) - vm.created_at),
        "" if vm.ready_at is None else duration(vm.ready_at - vm.created_at),
        str(vm.tasks_done),
        f"${vm.cost_usd:.4f}",
        _vm_note(vm),
    )


def _vm_note(vm: Vm) -> str:
    if VMState(vm.state).is_free and vm.deadline_at is not None:
        return f"released in {duration(vm.deadline_at - time.time())}; {vm.reason}"
    return vm.reason


def metrics(*, as_json: bool) -> int:
    """Print the service in seven numbers."""

    async def work(client: AsyncClient) -> int:
        found = await client.metrics()
        if as_json:
            print_json(found.to_json())
            return 0
        print_columns(
            [
                ("spent", f"${found.total_cost_usd:,.2f}, {found.credits_used_pct} % of the credits"),
                ("left", f"${found.remaining_credits_usd:,.2f}"),
                ("tasks done", f"{found.tasks_completed:,}"),
                ("cold starts", f"{found.cold_starts:,}"),
                ("warm reuses", f"{found.warm_reuses:,}"),
                ("VMs now", f"{found.active_vms:,}"),
            ]
        )
        return 0

    return ask(work, as_json=as_json)


def cost(*, as_json: bool) -> int:
    """Print where the money went, as a small picture."""

    async def work(client: AsyncClient) -> int:
        found = await client.costs()
        if as_json:
            print_json(found.to_json())
        else:
            print("\n".join(cost_lines(found)))
        return 0

    return ask(work, as_json=as_json)


def cost_lines(costs: Costs) -> Iterator[str]:
    """The picture: credits, days and what the VMs did meanwhile."""
    dollars = "simulated dollars" if costs.simulated else "dollars"
    share = costs.total_usd / costs.credits_usd if costs.credits_usd else Decimal(0)
    yield f"{bar(share, fill='░')}  {share:.1%} of the credits, in {dollars}"
    yield f"spent ${costs.total_usd:,.4f}, left ${costs.remaining_usd:,.2f} of ${costs.credits_usd:,.2f}"
    yield f"promised to the VMs alive, at the most: ${costs.reserved_usd:,.4f}"
    yield from _bars("by day, UTC", {row.day: row.cost_usd for row in costs.by_day})
    yield from _bars("by what the VMs did", {row.meter: row.cost_usd for row in costs.by_meter})
    differences = costs.audit.differences if costs.audit else []
    if differences:
        yield "\nthe provider's record and the ledger do not agree"
    for row in differences:
        billed, ledger = f"${row.billed_usd:,.4f}", f"${row.ledger_usd:,.4f}"
        yield f"  {row.vm_id}  {billed} by its provider's record, {ledger} by the ledger"


def _bars(title: str, amounts: Mapping[str, Decimal]) -> Iterator[str]:
    if not amounts:
        return
    yield f"\n{title}"
    top = max(amounts.values())
    width = max(map(len, amounts))
    for name, amount in amounts.items():
        yield f"  {name.ljust(width)}  {bar(amount / top if top else Decimal(0))}  ${amount:,.4f}"


def bar(share: Decimal, *, width: int = _BAR_WIDTH, fill: str = " ") -> str:
    """A bar of eighths of a character; what is not nothing is seen."""
    eighths = min(8 * width, int(share * 8 * width) or int(share > 0))
    whole, rest = divmod(eighths, 8)
    drawn = "█" * whole + (_EIGHTHS[rest] if rest else "")
    return drawn + fill * (width - len(drawn))
