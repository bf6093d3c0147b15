"""`warmfront ps`, `stop`, `vms`, `metrics` and `cost`: print the state and the costs of a server.

Every figure comes from the server; nothing is computed here.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.cli.control_service import confirm
from warmfront.cli.formatting import duration, print_columns, print_json
from warmfront.cli.server_access import PAGE_SIZE, find_submission, iterate_submissions, with_client
from warmfront.cli.time_format import format_time
from warmfront.gpus import CPU_NODE
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.client import AsyncClient, Costs, ProvisioningProblem, Submission, Vm

#: In the order of the state machine, so that a submission that changes state between two requests is not
#: missed.
_UNFINISHED = ("ADMITTING", "QUEUED", "ASSIGNED", "RUNNING")
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 30


def ps(*, finished: bool, everyone: bool, as_json: bool) -> int:
    """List the unfinished submissions, or the latest ones in any state."""

    async def work(client: AsyncClient) -> int:
        by_id: dict[str, Submission] = {}
        for state in (None,) if finished else _UNFINISHED:
            async for item in iterate_submissions(client, state=state, everyone=everyone):
                by_id[item.id] = item
                if len(by_id) >= PAGE_SIZE and finished:
                    break
        items = sorted(by_id.values(), key=lambda item: -item.created_at)
        if as_json:
            print_json([item.to_json() for item in items])
        else:
            print_columns([_PS_HEADING, *map(_ps_row, items)])
        return 0

    return with_client(work, as_json=as_json)


_PS_HEADING = ("ID", "OWNER", "PROBLEM", "ENDPOINT", "GPU", "STATUS", "AGE", "TIME", "COST")


def _ps_row(item: Submission) -> tuple[str, ...]:
    return (
        item.id,
        item.owner,
        item.problem,
        item.endpoint,
        f"{item.gpu_type} (simulated)" if item.simulated else item.gpu_type,
        item.verdict or item.state,
        duration(time.time() - item.created_at),
        _ps_time(item),
        "" if item.cost_usd is None else f"${item.cost_usd:.4f}",
    )


def _ps_time(item: Submission) -> str:
    if item.avg_runtime_ms is None:
        return ""
    return format_time(item.avg_runtime_ms, item.avg_ci) + (", noisy" if item.noisy else "")


def stop(prefix: str, *, yes: bool, as_json: bool) -> int:
    """Cancel a submission and wait until its processes have ended; ask first if it is another user's."""

    async def work(client: AsyncClient) -> int:
        submission = await find_submission(client, prefix)
        if not yes and submission.owner != await client.user():
            effect = await client.cancel_effect(submission.id)
            confirm(f"Cancel {submission.id} of {submission.owner}?", [effect.text], yes=False)
        cancelled = await client.cancel(submission.id)
        if as_json:
            print_json(cancelled.to_json())
        else:
            print(f"{cancelled.id}  {cancelled.verdict}")
        return 0

    return with_client(work, as_json=as_json)


def vms(*, finished: bool, as_json: bool) -> int:
    """List the live VMs, and optionally the recently terminated ones."""

    async def work(client: AsyncClient) -> int:
        selected = [vm for vm in await client.vms() if finished or not VMState(vm.state).has_ended]
        if as_json:
            print_json([vm.to_json() for vm in selected])
        else:
            print_columns([_VMS_HEADING, *map(_vm_row, selected)])
            _print_problems(await client.provisioning())
        return 0

    return with_client(work, as_json=as_json)


def provisioning(*, reset: str | None, as_json: bool) -> int:
    """Print why no VMs are provisioned. If a GPU type is given, reset its circuit breaker first."""

    async def work(client: AsyncClient) -> int:
        problems = await (client.provisioning() if reset is None else client.reset_provisioning(reset))
        if as_json:
            print_json([problem.to_json() for problem in problems])
        elif problems:
            _print_problems(problems)
        else:
            print("VMs are provisioned as needed.")
        return 0

    return with_client(work, as_json=as_json)


def _print_problems(problems: Sequence[ProvisioningProblem]) -> None:
    for problem in problems:
        retry = f"retrying in {duration(max(0.0, problem.retry_at - time.time()))}"
        if problem.open:
            failed = "a VM" if problem.failures == 1 else f"{problem.failures} VMs"
            print(f"{problem.gpu_type}: circuit breaker open after {failed} failed: {problem.reason}")
            until = f"until `warmfront provisioning --reset {problem.gpu_type}`, or {retry}"
            print(f"  {_while_open(problem.gpu_type)} {until}")
        else:
            print(f"{problem.gpu_type}: {problem.reason.rstrip('.')}; {retry}; submissions wait")
        if problem.hint:
            print(f"  → {problem.hint}")


def _while_open(gpu: str) -> str:
    """Return what happens to submissions while the circuit breaker of a GPU type is open."""
    if gpu != CPU_NODE:
        return "submissions fail"
    return "VMs with a GPU judge checks, if the credits cover that,"


_VMS_HEADING = ("ID", "STATE", "GPU", "SLOTS", "PROVIDER", "AGE", "BOOT", "TASKS", "COST", "NOTE")


def _vm_row(vm: Vm) -> tuple[str, ...]:
    return (
        vm.id,
        vm.state,
        _gpu(vm),
        f"{vm.slots_used}/{vm.slots}",
        vm.provider,
        duration((vm.ended_at or time.time()) - vm.created_at),
        "" if vm.ready_at is None else duration(vm.ready_at - vm.created_at),
        str(vm.tasks_done),
        f"${vm.cost_usd:.4f}",
        _vm_note(vm),
    )


def _gpu(vm: Vm) -> str:
    name = vm.gpu_type if vm.gpu_count == 1 else f"{vm.gpu_count} {vm.gpu_type}"
    return f"{name} (simulated)" if vm.simulated else name


def _vm_note(vm: Vm) -> str:
    if VMState(vm.state).is_free and vm.deadline_at is not None:
        return f"released in {duration(vm.deadline_at - time.time())}; {vm.reason}"
    return vm.reason


def metrics(*, as_json: bool) -> int:
    """Print the headline metrics of the service."""

    async def work(client: AsyncClient) -> int:
        headline = await client.metrics()
        if as_json:
            print_json(headline.to_json())
            return 0
        print_columns(
            [
                ("spent", f"${headline.total_cost_usd:,.2f}, {headline.credits_used_pct} % of the credits"),
                ("remaining", f"${headline.remaining_credits_usd:,.2f}"),
                ("completed submissions", f"{headline.tasks_completed:,}"),
                ("cold starts", f"{headline.cold_starts:,}"),
                ("warm reuses", f"{headline.warm_reuses:,}"),
                ("live VMs", f"{headline.active_vms:,}"),
            ]
        )
        return 0

    return with_client(work, as_json=as_json)


def cost(*, as_json: bool) -> int:
    """Print the costs with bar charts."""

    async def work(client: AsyncClient) -> int:
        costs = await client.costs()
        if as_json:
            print_json(costs.to_json())
        else:
            print("\n".join(cost_lines(costs)))
        return 0

    return with_client(work, as_json=as_json)


def cost_lines(costs: Costs) -> Iterator[str]:
    """Yield the lines of the cost report: credits, costs per day and costs per VM activity."""
    dollars = "simulated dollars" if costs.simulated else "dollars"
    share = costs.total_usd / costs.credits_usd if costs.credits_usd else Decimal(0)
    yield f"{bar(share, fill='░')}  {share:.1%} of the credits, in {dollars}"
    yield f"spent ${costs.total_usd:,.4f}, remaining ${costs.remaining_usd:,.2f} of ${costs.credits_usd:,.2f}"
    yield f"of that charged to the VM pool (idle time, prewarming): ${costs.pool_usd:,.4f}"
    yield f"reserved for live VMs, worst case: ${costs.reserved_usd:,.4f}"
    if costs.cpu_nodes is not None:
        nodes = costs.cpu_nodes
        yield (
            f"CPU nodes: {nodes.seconds / 3600:,.2f} h for ${nodes.cost_usd:,.4f}; the same time on VMs "
            f"with an {nodes.gpu_type} would have cost ${nodes.gpu_usd:,.4f}: ${nodes.saved_usd:,.4f} saved"
        )
    yield from _bars("per day, UTC", {row.day: row.cost_usd for row in costs.by_day})
    yield from _bars("per VM activity", {row.meter: row.cost_usd for row in costs.by_meter})
    differences = costs.audit.differences if costs.audit else []
    if differences:
        yield "\nthe ledger differs from the provider's bill"
    for row in differences:
        yield f"  {row.vm_id}  provider ${row.billed_usd:,.4f}, ledger ${row.ledger_usd:,.4f}"


def _bars(title: str, amounts: Mapping[str, Decimal]) -> Iterator[str]:
    if not amounts:
        return
    yield f"\n{title}"
    top = max(amounts.values())
    width = max(map(len, amounts))
    for name, amount in amounts.items():
        yield f"  {name.ljust(width)}  {bar(amount / top if top else Decimal(0))}  ${amount:,.4f}"


def bar(share: Decimal, *, width: int = _BAR_WIDTH, fill: str = " ") -> str:
    """Draw a share as a bar, in eighths of a character. A positive share is never blank."""
    eighths = min(8 * width, int(share * 8 * width) or int(share > 0))
    whole, rest = divmod(eighths, 8)
    drawn = "█" * whole + (_EIGHTHS[rest] if rest else "")
    return drawn + fill * (width - len(drawn))
