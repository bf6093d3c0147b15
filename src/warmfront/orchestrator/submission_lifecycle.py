"""The owner of all submissions without a verdict: their queues, their retries and their completion.

It does not choose the next submission, run attempts or manage VMs.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from dataclasses import field, replace
from typing import TYPE_CHECKING

from warmfront.gpus import CPU_NODE
from warmfront.orchestrator.control_plane_verdicts import cancelled, rejected, vms_lost
from warmfront.orchestrator.fair_queue import FairQueue
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.clock import Clock
    from warmfront.errors import WarmfrontError
    from warmfront.events import Failed, Waiting, Xray
    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.store.records import AttemptRecord
    from warmfront.store.store import Store
    from warmfront.submission import NewSubmission, Submission, SubmittedSource

log = logging.getLogger(__name__)

#: How often an attempt that was lost to infrastructure is retried.
RETRIES = 2
#: How many characters of source are kept in memory.
_CAPACITY = 8 * 1024 * 1024


@dataclass(kw_only=True, eq=False)
class ActiveSubmission:
    """A submission without a verdict, and its current attempt."""

    submission: Submission
    attempt: AttemptRecord | None = None  #: its live attempt
    vm: PooledVM | None = None  #: the VM of that attempt
    lost_attempts: int = 0  #: attempts lost to infrastructure
    preempted: bool = False  #: its spot VM was preempted, so it must run on demand
    on_cpu_node: bool = False  #: a CPU node judges it, not a VM with its GPU type
    instead_of_cpu_node: bool = False  #: a VM with its GPU type judges it only because there are no CPU nodes
    needs_cpu_node: bool = False  #: the owner's daily cap does not cover it on a VM with its GPU type
    cancel_requested: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)  #: set when the verdict is stored

    @property
    def id(self) -> str:
        """The id of the submission."""
        return self.submission.id

    @property
    def owner(self) -> str:
        """The owner of the submission."""
        return self.submission.owner

    @property
    def gpu(self) -> str:
        """The GPU type of the VM that it needs, or `CPU_NODE`."""
        return CPU_NODE if self.on_cpu_node else self.submission.gpu


class SubmissionLifecycle:
    """Every submission without a verdict, with one fair queue per GPU type, and one for CPU nodes."""

    def __init__(self, *, store: Store, clock: Clock, tasks: TaskSupervisor) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._active: dict[str, ActiveSubmission] = {}
        self._queues: dict[str, FairQueue] = {}
        self._preempted: set[str] = set()  # the active submissions that must run on demand
        self._instead_of_cpu_nodes: set[str] = set()  # the active submissions that may return to CPU nodes
        self.sources = SourceCache(store)

    def get(self, submission_id: str) -> ActiveSubmission | None:
        """Return an active submission."""
        return self._active.get(submission_id)

    def track(self, active: ActiveSubmission, new: NewSubmission | None = None) -> None:
        """Track a submission; `new` has its source if it was just created."""
        self._active[active.id] = active
        if active.preempted:
            self._preempted.add(active.id)
        if active.instead_of_cpu_node:
            self._instead_of_cpu_nodes.add(active.id)
        if new is not None:
            self.sources.put(new)

    # The queues.

    def queue(self, gpu: str) -> FairQueue:
        """Return the queue for VMs with this GPU type."""
        queue = self._queues.get(gpu)
        if queue is None:
            queue = self._queues[gpu] = FairQueue()
        return queue

    def queued_gpus(self) -> list[str]:
        """Return the GPU types for which submissions wait."""
        return [gpu for gpu, queue in self._queues.items() if len(queue)]

    def queue_length(self) -> int:
        """Return how many submissions wait for a VM."""
        return sum(len(queue) for queue in self._queues.values())

    def queued(self) -> Iterator[Submission]:
        """Yield the queued submissions in approximately the order in which they will be served."""
        heads = (queue.heads() for queue in self._queues.values())
        ranks = itertools.zip_longest(*heads)
        return (self._active[item].submission for rank in ranks for item in rank if item is not None)

    def enqueue(self, active: ActiveSubmission, *, front: bool = False) -> None:
        """Queue a submission for a VM; `front` puts it before the others of its owner."""
        self.queue(active.gpu).push(active.owner, active.id, front=front)
        self._tasks.wake()

    def dequeue(self, queue: FairQueue, *, spot: bool = False) -> ActiveSubmission:
        """Take the next submission that can run on such a VM and count it as running. There must be one."""
        if spot and self._preempted:
            submission_id = next(item for item in queue.heads() if item not in self._preempted)
            queue.take(submission_id)
        else:
            popped = queue.pop()
            assert popped is not None  # noqa: S101 - the queue is not empty
            submission_id = popped
        return self._active[submission_id]

    def needs_on_demand(self, gpu: str) -> int:
        """Return how many queued submissions for this GPU type must run on demand."""
        queue = self.queue(gpu)
        return sum(item in queue for item in self._preempted)

    def remove_from_queue(self, active: ActiveSubmission) -> bool:
        """Remove a submission from its queue; return whether it was waiting."""
        return self.queue(active.gpu).remove(active.id)

    def resume_running(self, active: ActiveSubmission) -> None:
        """Count a submission as running because its attempt began before a restart."""
        self.queue(active.gpu).started(active.owner)

    # Checks without CPU nodes.

    @property
    def instead_of_cpu_nodes(self) -> int:
        """The number of submissions that VMs with a GPU judge only because there are no CPU nodes."""
        return len(self._instead_of_cpu_nodes)

    def move_to_gpu(self, active: ActiveSubmission) -> None:
        """Move a queued submission from the queue for CPU nodes to the queue for its GPU type.

        Its quote did not include the boot of such a VM, so it is not charged for one.
        """
        self.remove_from_queue(active)
        active.on_cpu_node, active.instead_of_cpu_node = False, True
        active.submission = replace(active.submission, pays_boot=False)
        self._instead_of_cpu_nodes.add(active.id)
        self.enqueue(active)

    def return_to_cpu_nodes(self) -> None:
        """Return the checks that are still queued to the queue for CPU nodes."""
        for submission_id in list(self._instead_of_cpu_nodes):
            active = self._active[submission_id]
            if active.attempt is None and self.remove_from_queue(active):
                self._return_to_cpu_node(active)

    def requeue_for_cpu_node(self, active: ActiveSubmission) -> None:
        """Queue a submission for CPU nodes only, because it would exceed a cap on a VM with a GPU."""
        self.queue(active.gpu).done(active.owner)
        active.attempt = active.vm = None
        active.needs_cpu_node = True
        self._return_to_cpu_node(active)

    def _return_to_cpu_node(self, active: ActiveSubmission) -> None:
        active.on_cpu_node, active.instead_of_cpu_node = True, False
        self._instead_of_cpu_nodes.discard(active.id)
        self.enqueue(active)

    # The end of an attempt.

    def finish_attempt(self, active: ActiveSubmission, verdict: str | None) -> None:
        """Release a submission whose attempt has ended; `verdict` is None if one was already stored."""
        log.info("submission %s: %s", active.id, verdict or "already completed")
        self.queue(active.gpu).done(active.owner)
        self._release(active)
        self._tasks.wake()

    def requeue(
        self,
        active: ActiveSubmission,
        *,
        interrupted: bool = False,
        preempted: bool = False,
        needs_gpu: bool = False,
    ) -> None:
        """Queue a submission again after its attempt was lost, or fail it after `RETRIES` losses.

        An attempt that was interrupted by an orderly stop does not count as lost. Neither does one whose spot
        VM was preempted, nor one on a CPU node that showed that the submission needs a GPU. Each of these
        two can happen to a submission only once.
        """
        self.queue(active.gpu).done(active.owner)
        active.attempt = active.vm = None
        if preempted:
            active.preempted = True
            self._preempted.add(active.id)
        if needs_gpu:
            active.on_cpu_node = False
        if not (interrupted or preempted or needs_gpu):
            active.lost_attempts += 1
        if active.cancel_requested:
            self._tasks.spawn(self.complete(active, cancelled()))
        elif active.lost_attempts > RETRIES:
            self._tasks.spawn(self.complete(active, vms_lost(active.lost_attempts)))
        else:
            self.enqueue(active, front=True)
        self._tasks.wake()

    async def lose_orphan(self, active: ActiveSubmission, attempt: AttemptRecord) -> None:
        """Queue a submission again because the VM of its attempt ended before a restart."""
        await self._store.lose_orphan(attempt.id, self._clock.now(), "its VM has ended")
        self.resume_running(active)
        self.requeue(active)

    # Verdicts of the control plane.

    async def complete(self, active: ActiveSubmission, verdict: Failed | Xray) -> None:
        """Store a verdict of the control plane."""
        await self._store.complete(active.id, verdict.fields(), self._clock.now())
        self._release(active)

    def reject_all(self, gpu: str, verdict: Verdict, error: WarmfrontError) -> None:
        """Fail every submission that waits for this GPU type, because it cannot get a VM."""
        for submission_id in self.queue(gpu).drain():
            self._tasks.spawn(self.complete(self._active[submission_id], rejected(verdict, error)))

    def reject_older(self, gpu: str, created_before: float, error: WarmfrontError) -> None:
        """Fail the submissions that have waited too long for this GPU type."""
        queue = self.queue(gpu)
        for submission_id in list(queue.heads()):
            active = self._active[submission_id]
            if active.submission.created_at <= created_before and queue.remove(submission_id):
                self._tasks.spawn(self.complete(active, rejected(Verdict.ERROR, error)))

    def waits_for(self, gpu: str) -> int:
        """Return how many submissions need a VM with this GPU type, in the queue or the X-ray queue."""
        return sum(
            active.gpu == gpu
            and active.attempt is None
            and not active.cancel_requested
            and active.submission.endpoint != Endpoint.XRAY
            for active in self._active.values()
        )

    def report_waiting(self, events: Sequence[tuple[str, Waiting]]) -> None:
        """Add an event to queued submissions that says why they wait."""
        if events:
            self._tasks.spawn(self._report_waiting(events))

    async def _report_waiting(self, events: Sequence[tuple[str, Waiting]]) -> None:
        now = self._clock.now()
        for submission_id, event in events:
            await self._store.append_event_if_queued(submission_id, event.fields(), now)

    def _release(self, active: ActiveSubmission) -> None:
        self._active.pop(active.id, None)
        self._preempted.discard(active.id)
        self._instead_of_cpu_nodes.discard(active.id)
        self.sources.discard(active.id)
        active.done.set()


class SourceCache:
    """A cache of submitted sources, by submission."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sources: dict[str, SubmittedSource] = {}
        self._free = _CAPACITY

    def put(self, new: NewSubmission) -> None:
        """Keep the source of a submission, if there is space."""
        source = new.source
        if _size(source) <= self._free:
            self._sources[new.id] = source
            self._free -= _size(source)

    async def get(self, submission_id: str) -> SubmittedSource:
        """Return a source from memory or from the store."""
        source = self._sources.get(submission_id)
        return source if source is not None else await self._store.get_source(submission_id)

    def discard(self, submission_id: str) -> None:
        """Free the source of a submission that has its verdict."""
        source = self._sources.pop(submission_id, None)
        if source is not None:
            self._free += _size(source)


def _size(source: SubmittedSource) -> int:
    sent_along = (source.problem_def, source.own_cases, source.launch)
    return len(source.code) + sum(len(text or "") for text in sent_along)
