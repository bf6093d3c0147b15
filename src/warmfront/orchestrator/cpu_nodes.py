"""Decide which submissions CPU nodes judge: checks, whose verdict needs neither a GPU nor a measured time.

The verdict of a CPU node is marked as simulated. A submission that is timed is never judged by one. While no
CPU node can be provisioned, VMs with a GPU judge checks, if the credits cover it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.events import Waiting
from warmfront.gpus import CPU_NODE
from warmfront.providers.base import max_cpu_nodes
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.provisioning_state import ProvisioningState
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission, SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings

#: The kind of a WAITING event of a check that a VM with a GPU judges, because there are no CPU nodes.
NO_CPU_NODES_KIND = "NO_CPU_NODES"


class CpuNodeRouting:
    """The choice between CPU nodes and VMs with a GPU."""

    def __init__(self, provider: Provider, settings: Settings) -> None:
        self._has_cpu_nodes = max_cpu_nodes(provider) > 0
        # The listener of a CPU node executes kernels for this GPU type, so others need its instruction set.
        self._arch = gpus.get(settings.default_gpu).arch

    def accepts(self, endpoint: str, gpu: str) -> bool:
        """Return whether a CPU node judges submissions to this endpoint for this GPU type."""
        if not self._has_cpu_nodes or endpoint != Endpoint.CHECKER:
            return False
        known = gpus.by_name(gpu)
        return known is not None and known.arch == self._arch

    def vm_type(self, endpoint: str, gpu: str) -> str:
        """Return the GPU type of the VM that such a submission waits for, or `CPU_NODE`."""
        return CPU_NODE if self.accepts(endpoint, gpu) else gpu


class CpuNodeFallback:
    """The part that moves checks to VMs with a GPU while no CPU node can be provisioned, and back afterwards.

    While the circuit breaker of CPU nodes is open, checks move at once. During a shortage, they first wait
    for as long as a CPU node takes to boot, unless a VM with their GPU type has a free slot.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        pool: VMPool,
        submissions: SubmissionLifecycle,
        budget: Budget,
        state_of: Callable[[str], ProvisioningState],
    ) -> None:
        self._has_cpu_nodes = max_cpu_nodes(provider) > 0
        self._pool = pool
        self._submissions = submissions
        self._budget = budget
        self._state_of = state_of

    def replaces_cpu_nodes(self, gpu: str, now: float) -> bool:
        """Return whether a VM with this GPU type judges a check that is queued now."""
        return self._are_down(now) and self._can_judge(gpu, now)

    def move(self, now: float) -> None:
        """Move queued checks to VMs with a GPU, or back to CPU nodes."""
        if not self._has_cpu_nodes:
            return
        if self._submissions.instead_of_cpu_nodes and self._is_one_ready():
            self._submissions.return_to_cpu_nodes()
        queue, state = self._submissions.queue(CPU_NODE), self._state_of(CPU_NODE)
        is_requested = self._pool.serves(CPU_NODE) or now >= state.provision_after
        if not len(queue) or state.problem(now) is None or is_requested:
            return
        are_down = self._are_down(now)
        checks = [self._submissions.get(submission_id) for submission_id in list(queue.heads())]
        for check in checks:
            if check is None or check.needs_cpu_node:
                continue
            gpu = check.submission.gpu
            if self._can_judge(gpu, now) and (are_down or self._has_free_slot(gpu)):
                self._move(check, now)

    def keeps(self, state: ProvisioningState, now: float) -> bool:
        """Return whether to remember a shortage for future checks although no submission waits."""
        return state.gpu == CPU_NODE and state.shortage is not None and now < state.shortage.retry_at

    def next_at(self) -> float | None:
        """Return when checks move, or a shortage without waiting submissions is forgotten."""
        shortage = self._state_of(CPU_NODE).shortage if self._has_cpu_nodes else None
        if shortage is None:
            return None
        queued = len(self._submissions.queue(CPU_NODE))
        return shortage.since + self._boot_s() if queued else shortage.retry_at

    def _are_down(self, now: float) -> bool:
        """Return whether there is no CPU node, and a request for one would currently fail."""
        if not self._has_cpu_nodes or self._pool.serves(CPU_NODE):
            return False
        state = self._state_of(CPU_NODE)
        if state.shortage is None:
            return state.is_open(now)
        return state.shortage.since + self._boot_s() <= now < state.shortage.retry_at

    def _boot_s(self) -> float:
        return self._pool.estimates(CPU_NODE).boot.seconds

    def _is_one_ready(self) -> bool:
        return any(
            pooled.vm.ready_at is not None and not pooled.is_leaving
            for pooled in self._pool.with_gpu(CPU_NODE)
        )

    def _can_judge(self, gpu: str, now: float) -> bool:
        """Return whether there can be a VM with this GPU type, and the credits cover a check on it."""
        serving = [pooled.vm for pooled in self._pool.with_gpu(gpu) if not pooled.is_leaving]
        state = self._state_of(gpu)
        if not serving and (state.shortage is not None or state.is_open(now)):
            return False
        return self._budget.shortage_of(serving, gpu) is None

    def _has_free_slot(self, gpu: str) -> bool:
        free = sum(
            pooled.vm.slots - len(pooled.running) - len(pooled.failed_slots)
            for pooled in self._pool.with_gpu(gpu)
            if pooled.accepts_attempts
        )
        return free > len(self._submissions.queue(gpu))

    def _move(self, check: ActiveSubmission, now: float) -> None:
        problem = self._state_of(CPU_NODE).problem(now)
        reason = "" if problem is None else f" ({problem.reason.rstrip('.')})"
        gpu = check.submission.gpu
        event = Waiting(
            kind=NO_CPU_NODES_KIND,
            reason=f"No CPU node can be provisioned{reason}; a VM with an {gpu} will judge the check",
            waited_s=0.0 if problem is None else round(max(0.0, now - problem.since), 1),
            retry_in_s=0.0,
            ahead=self._submissions.queue(gpu).position(check.owner),
            eta_s=None,
            gives_up_in_s=0.0,
        )
        self._submissions.move_to_gpu(check)
        self._submissions.report_waiting([(check.id, event)])
