"""The intake of submissions, which operators can pause: new submissions wait in the queue, or are refused."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.errors import Conflict, IntakePaused
from warmfront.events import Waiting
from warmfront.store.records import IntakeMode
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.audit_chain import Actor
    from warmfront.clock import Clock
    from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: The `kind` of the WAITING event of a submission that waits because of a pause; stable.
PAUSED_KIND = "INTAKE_PAUSED"


@dataclass(frozen=True, kw_only=True)
class IntakeState:
    """The state of the intake."""

    mode: IntakeMode = IntakeMode.OPEN
    reason: str = ""  #: why it is paused, for authors
    by: str = ""  #: the operator who paused it
    since: float = 0.0


class Intake:
    """The intake. Its state is stored, so that a restart keeps it."""

    def __init__(
        self, *, store: Store, submissions: SubmissionLifecycle, tasks: TaskSupervisor, clock: Clock
    ) -> None:
        self._store = store
        self._submissions = submissions
        self._tasks = tasks
        self._clock = clock
        self._notified: set[str] = set()  # queued submissions that were notified
        self.state = IntakeState()

    def restore(self, text: str | None) -> None:
        """Restore the state that was stored before a restart."""
        if text:
            fields = json.loads(text)
            self.state = IntakeState(**{**fields, "mode": IntakeMode(fields["mode"])})
            if self.state.mode is not IntakeMode.OPEN:
                log.warning("intake is paused (%s): %s", self.state.mode, self.state.reason)

    @property
    def holds_queue(self) -> bool:
        """Whether queued submissions wait until the intake is resumed."""
        return self.state.mode is IntakeMode.QUEUE

    def check(self) -> None:
        """Raise `IntakePaused` if new submissions are refused."""
        if self.state.mode is IntakeMode.REFUSE:
            raise IntakePaused(f"The service does not accept submissions at the moment: {self._reason()}")

    async def pause(self, mode: IntakeMode, reason: str, by: Actor) -> None:
        """Pause the intake, or change how it is paused."""
        state = IntakeState(mode=mode, reason=reason, by=by.name, since=self._clock.now())
        await self._change(state, by, AuditAction.INTAKE_PAUSE, reason)

    async def resume(self, by: Actor) -> None:
        """Resume the intake.

        Raises:
            Conflict: it is not paused.
        """
        if self.state.mode is IntakeMode.OPEN:
            error = Conflict("The intake is not paused.")
            record = by.refused(AuditAction.INTAKE_RESUME, "intake", error.message)
            await self._store.append_audit(record, self._clock.now())
            raise error
        await self._change(IntakeState(since=self._clock.now()), by, AuditAction.INTAKE_RESUME, "")

    async def _change(self, state: IntakeState, by: Actor, action: AuditAction, detail: str) -> None:
        record = by.record(
            action,
            "intake",
            before={"mode": self.state.mode.value},
            after={"mode": state.mode.value},
            detail=detail,
        )
        text = json.dumps({**asdict(state), "mode": state.mode.value})
        await self._store.save_intake(text, record, self._clock.now())
        self.state = state
        self._notified.clear()
        self._tasks.wake()

    def report(self, queued: Iterable[str]) -> None:
        """Add an event to every queued submission, once, saying that it waits because of the pause."""
        waiting = list(queued)
        waited_s = self._clock.now() - self.state.since
        events = [
            (
                submission_id,
                Waiting(
                    kind=PAUSED_KIND,
                    reason=f"An operator has paused the queue: {self._reason()}",
                    waited_s=round(max(0.0, waited_s), 1),
                    retry_in_s=0.0,
                    ahead=ahead,
                    eta_s=None,
                    gives_up_in_s=0.0,
                ),
            )
            for ahead, submission_id in enumerate(waiting)
            if submission_id not in self._notified
        ]
        self._notified = set(waiting)
        self._submissions.report_waiting(events)

    def _reason(self) -> str:
        return self.state.reason or "no reason was given."
