"""The client for asyncio. `warmfront.client.Client` has the same methods without `await`.

Requests are retried after a dropped connection. All requests are idempotent, so retries are safe.
"""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

import httpx

from warmfront.client.result import ReceivedEvent, Result
from warmfront.client.retry import Retry
from warmfront.client.server_errors import error_from_response, parse_response, unreachable
from warmfront.client.sse import messages
from warmfront.errors import BadSetting, Conflict, IntakePaused, ServerUnreachable, WarmfrontError
from warmfront.submission import SubmissionState
from warmfront.verdicts import SUCCESS, Verdict
from warmfront.wire.accounts import SessionResponse
from warmfront.wire.alerts import AlertsResponse, AlertTestResponse
from warmfront.wire.audit import AuditPageResponse
from warmfront.wire.costs import CostsResponse, MetricsResponse
from warmfront.wire.forecasts import PaceForecastListResponse, WhatIfResponse
from warmfront.wire.operations import ProvisioningProblemResponse, ProvisioningResponse
from warmfront.wire.operator_controls import (
    ActionEffectResponse,
    ActionsResponse,
    IntakeResponse,
    LimitsResponse,
    TeamListResponse,
    TeamSpendingResponse,
    VmActionsResponse,
)
from warmfront.wire.signing_keys import SigningKeyListResponse, SigningKeyResponse
from warmfront.wire.submissions import SubmissionPageResponse, SubmissionResponse
from warmfront.wire.teams import AssignmentCreatedResponse, TeamDetailResponse
from warmfront.wire.version import SCHEMA_VERSION, VERSION_HEADER
from warmfront.wire.vms import VmListResponse, VmResponse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal

DEFAULT_URL = "http://127.0.0.1:3000"

#: Statuses of a server that is restarting, or of a proxy in front of it.
_TRANSIENT_STATUSES = {502, 503, 504}
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
#: The server sends a comment every 15 s, so a stream without data for longer has lost its connection.
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
#: A simulation takes longer than any other response.
_SIMULATION_TIMEOUT_S = 330.0
#: These end a submission to any endpoint; CHECKED, for example, ends only a `checker` submission.
_ALWAYS_TERMINAL = set(Verdict) - set(SUCCESS.values()) | {Verdict.ACCEPTED}


class AsyncClient:
    """A client of one Warmfront service.

    One client can follow any number of submissions at once. Use it with `async with`, or call `close`.

    Args:
        url: The address of the service; WARMFRONT_URL, or http://127.0.0.1:3000, by default. For a service
            with a standby, both addresses, separated by a comma; the client uses the one that responds.
        api_key: An API key; WARMFRONT_API_KEY by default.
        retry: How often to retry after a dropped connection.

    Raises:
        BadSetting: `url` is not an HTTP address or `api_key` is not a key.

    Besides the exceptions that it lists, every method that sends a request can raise `NotAuthenticated`,
    `NotAllowed`, `ServerUnreachable` if no service responds, and `InfrastructureError` if the service fails
    or its response does not match this client's wire schema.

    Example:
        >>> async with AsyncClient() as client:
        ...     submission_id = await client.submit(code, problem="relu", endpoint="checker")
        ...     result = await client.result(submission_id)
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, retry: Retry | None = None
    ) -> None:
        self._urls = _validate_urls(url or os.environ.get("WARMFRONT_URL") or DEFAULT_URL)
        self.url = self._urls[0]  #: the address in use
        self._retry = retry or Retry()
        self._has_responded = False
        self._refused: set[str] = set()  #: addresses that refused a connection before any has responded
        self._http = httpx.AsyncClient(
            headers=_headers(api_key or os.environ.get("WARMFRONT_API_KEY")),
            timeout=_TIMEOUT,
            # Every stream holds a connection. With a limit, a request might have to wait for the verdict of
            # another submission.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            # A proxy from the environment cannot reach this machine's loopback interface.
            trust_env=not all(urlsplit(url).hostname in _LOOPBACK for url in self._urls),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections. Submissions continue on the server.

        Example:
            >>> client = AsyncClient()
            >>> await client.close()
        """
        await self._http.aclose()

    async def submit(
        self,
        code: str,
        *,
        problem: str,
        gpu_type: str | None = None,
        dtype: str | None = None,
        endpoint: str = "submit",
        file_name: str | None = None,
        problem_def: str | None = None,
        own_cases: Sequence[Mapping[str, Any]] = (),
        launch: Mapping[str, Any] | None = None,
        all_cases: bool = False,
        idempotency_key: str | None = None,
    ) -> str:
        """Submit a kernel and return the id of its submission.

        When this returns, the submission is stored and will get a verdict.

        Args:
            code: HIP source that defines `solution`.
            problem: The slug or an alias of the problem.
            gpu_type: A GPU such as "MI300X"; the service's default if omitted.
            dtype: A dtype of the problem; the first one by default.
            endpoint: "xray", "checker", "benchmark" or "submit".
            file_name: The name of the source file in compiler messages.
            problem_def: The Python source of a problem; requires the role operator.
            own_cases: Cases of your own, which are checked before the problem's: objects with `values` (of
                every parameter that is passed by value) and, optionally, `style`. Only for "checker".
            launch: A launch without a problem, with the problem "scratch" and the endpoint "checker": an
                object with `kernel`, `grid`, `block` and `arguments`.
            all_cases: Continue after a wrong answer, so that the results of all cases are known. Only for
                "checker".
            idempotency_key: Submitting twice with the same key creates one submission. By default every call
                has its own key, so only its own retries are deduplicated.

        Raises:
            BadRequest: A field is invalid.
            Conflict: `idempotency_key` was used for a different request.
            RateLimitExceeded: The user has no submissions left in this minute or day.
            BudgetExceeded: A daily budget is used up.

        Example:
            >>> submission_id = await client.submit(
            ...     code,
            ...     problem="relu",
            ...     endpoint="checker",
            ...     own_cases=[{"values": {"n": 5, "m": 3}, "style": "tiny"}],
            ... )
        """
        request = {
            "solution_code": code,
            "problem": problem,
            "gpu_type": gpu_type,
            "dtype": dtype,
            "language": "hip",
            "endpoint": endpoint,
            "file_name": file_name,
            "problem_def": problem_def,
            "own_cases": [dict(case) for case in own_cases] or None,
            "launch": None if launch is None else dict(launch),
            "all_cases": all_cases or None,
        }
        key = idempotency_key or str(uuid.uuid4())
        created = await self._request(
            "POST",
            "/submit",
            json={name: value for name, value in request.items() if value is not None},
            headers={"Accept": "application/json", "Idempotency-Key": key},
        )
        return str(created["id"])

    async def events(self, submission_id: str, *, after: int = 0) -> AsyncGenerator[ReceivedEvent]:
        """Yield the events of a submission as they happen, each once; end after the terminal event.

        A dropped stream is resumed after the last event that was received.

        Args:
            submission_id: The id of the submission.
            after: Skip the events up to this id.

        Raises:
            NotFound: There is no such submission, or it belongs to another user.
            ServerUnreachable: The stream could not be resumed.

        Example:
            >>> async for event in client.events(submission_id):
            ...     print(event.id, event.status)
        """
        last = after
        delays_s = self._retry.delays_s()
        while True:
            reason: WarmfrontError | None = None
            try:
                async with aclosing(self._stream(submission_id, last)) as stream:
                    async for event in stream:
                        if event.id <= last:
                            continue
                        if event.id > last + 1:
                            break  # an event is missing: request the stream again
                        last = event.id
                        delays_s = self._retry.delays_s()
                        yield event
                        if event.status in _ALWAYS_TERMINAL:
                            return
                if await self._is_complete(submission_id, last):
                    return
            except ServerUnreachable as error:
                reason = error
            delay_s = next(delays_s, None)
            if delay_s is None:
                raise reason or unreachable(self.url, EOFError("the event stream ended before the verdict"))
            await asyncio.sleep(delay_s)

    async def result(self, submission_id: str) -> Result:
        """Wait for the verdict of a submission.

        A wrong kernel has a result too: see `Result.is_success`.

        Args:
            submission_id: The id of the submission.

        Raises:
            NotFound: There is no such submission, or it belongs to another user.

        Example:
            >>> result = await client.result(submission_id)
            >>> print(result.verdict, result.message)
        """
        async with aclosing(self.events(submission_id)) as events:
            return Result.from_events(submission_id, [event async for event in events])

    async def cancel(self, submission_id: str) -> SubmissionResponse:
        """Cancel a submission and wait until its sandbox is destroyed.

        Cancelling a cancelled submission has no effect.

        Args:
            submission_id: The id of the submission.

        Raises:
            NotFound: There is no such submission, or it belongs to another user.
            Conflict: The submission already has another verdict.

        Example:
            >>> cancelled = await client.cancel(submission_id)
            >>> print(cancelled.verdict)
            CANCELLED
        """
        try:
            await self._request("POST", _path(submission_id, "/cancel"))
        except Conflict:
            submission = await self.submission(submission_id)
            if submission.verdict != Verdict.CANCELLED:
                raise
            return submission
        return await self.submission(submission_id)

    async def submission(self, submission_id: str) -> SubmissionResponse:
        """Return one submission.

        Args:
            submission_id: The id of the submission.

        Raises:
            NotFound: There is no such submission, or it belongs to another user.

        Example:
            >>> submission = await client.submission(submission_id)
            >>> print(submission.state, submission.cost_usd)
        """
        return parse_response(SubmissionResponse, await self._request("GET", _path(submission_id)))

    async def submissions(
        self,
        *,
        state: str | None = None,
        verdict: str | None = None,
        problem: str | None = None,
        endpoint: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        everyone: bool = False,
    ) -> SubmissionPageResponse:
        """Return one page of the user's submissions, newest first.

        Args:
            state: Only submissions in this state, such as "QUEUED".
            verdict: Only submissions with this verdict, such as "ACCEPTED".
            problem: Only submissions for this problem.
            endpoint: Only submissions to this endpoint.
            limit: The size of the page, at most 100.
            cursor: The `next_cursor` of the previous page.
            everyone: The submissions of all users; requires the role operator.

        Raises:
            BadRequest: A filter is invalid.

        Example:
            >>> page = await client.submissions(problem="relu", verdict="ACCEPTED")
            >>> for submission in page.items:
            ...     print(submission.id, submission.avg_runtime_ms)
        """
        filters = {
            "state": state,
            "verdict": verdict,
            "problem": problem,
            "endpoint": endpoint,
            "limit": limit,
            "cursor": cursor,
            "all": "1" if everyone else None,
        }
        params = {name: value for name, value in filters.items() if value is not None}
        return parse_response(
            SubmissionPageResponse, await self._request("GET", "/submissions", params=params)
        )

    async def receipt(self, submission_id: str) -> bytes:
        """Return the signed receipt of an ACCEPTED submission. Save it unchanged.

        Args:
            submission_id: The id of the submission.

        Raises:
            NotFound: There is no such submission, it belongs to another user, or it has no receipt.

        Example:
            >>> Path("receipt.json").write_bytes(await client.receipt(submission_id))
        """
        return (await self._send("GET", _path(submission_id, "/receipt"))).content

    async def signing_keys(self) -> list[SigningKeyResponse]:
        """Return the public keys that verify receipts, oldest first, including retired ones.

        Example:
            >>> for key in await client.signing_keys():
            ...     print(key.id, key.pem)
        """
        return parse_response(SigningKeyListResponse, await self._request("GET", "/keys")).items

    async def metrics(self) -> MetricsResponse:
        """Return the seven headline metrics of the service.

        Example:
            >>> metrics = await client.metrics()
            >>> print(metrics.total_cost_usd, metrics.warm_reuses)
        """
        return parse_response(MetricsResponse, await self._request("GET", "/metrics"))

    async def vms(self) -> list[VmResponse]:
        """Return the live VMs and those that ended most recently, newest first.

        Example:
            >>> for vm in await client.vms():
            ...     print(vm.id, vm.state, vm.cost_usd)
        """
        return parse_response(VmListResponse, await self._request("GET", "/vms")).items

    async def provisioning(self) -> list[ProvisioningProblemResponse]:
        """Return the GPU types for which no VM is provisioned now, and why."""
        return parse_response(ProvisioningResponse, await self._request("GET", "/provisioning")).problems

    async def reset_provisioning(self, gpu_type: str) -> list[ProvisioningProblemResponse]:
        """Close the circuit breaker of a GPU type. Requires the role operator.

        Example:
            >>> await client.reset_provisioning("MI300X")
            []
        """
        path = f"/provisioning/{quote(gpu_type, safe='')}/reset"
        return parse_response(ProvisioningResponse, await self._request("POST", path)).problems

    async def vm_actions(self, vm_id: str, *, pin_until: str | None = None) -> list[ActionEffectResponse]:
        """Return what each action on a VM would save or cost. Requires an operator's key.

        Args:
            vm_id: The id of the VM.
            pin_until: The end of a pin, in ISO 8601 with a time zone.

        Raises:
            NotFound: There is no such VM.
            Conflict: The VM has ended or is shutting down.

        Example:
            >>> for effect in await client.vm_actions(vm_id):
            ...     print(effect.action, effect.text)
        """
        params = {} if pin_until is None else {"pin_until": pin_until}
        body = await self._request("GET", _vm_path(vm_id, "actions"), params=params)
        return parse_response(VmActionsResponse, body).items

    async def cancel_effect(self, submission_id: str) -> ActionEffectResponse:
        """Return what cancelling a submission would save.

        Args:
            submission_id: The id of the submission.

        Raises:
            NotFound: There is no such submission, or it belongs to another user.
            Conflict: The submission already has its verdict.

        Example:
            >>> print((await client.cancel_effect(submission_id)).text)
        """
        body = await self._request("GET", _path(submission_id, "/actions"))
        return parse_response(ActionsResponse, body).items[0]

    async def user(self) -> str | None:
        """Return the name of the user of the API key; None if a key is required and none was sent.

        Example:
            >>> await client.user()
            'ada'
        """
        return parse_response(SessionResponse, await self._request("GET", "/session")).user

    async def intake_actions(self, mode: str = "queue") -> list[ActionEffectResponse]:
        """Return what pausing or resuming the intake would save or cost. Requires an operator's key.

        Args:
            mode: How to pause it: "queue" or "refuse".

        Raises:
            BadRequest: `mode` is invalid.

        Example:
            >>> for effect in await client.intake_actions():
            ...     print(effect.action, effect.text)
        """
        body = await self._request("GET", "/intake/actions", params={"mode": mode})
        return parse_response(ActionsResponse, body).items

    async def act_on_vm(self, vm_id: str, action: str) -> VmResponse:
        """Release, drain or unpin a VM. Requires an operator's key.

        Args:
            vm_id: The id of the VM.
            action: "release", "drain" or "unpin".

        Raises:
            NotFound: There is no such VM.
            Conflict: The VM has ended, or the action is not possible.

        Example:
            >>> vm = await client.act_on_vm(vm_id, "drain")
            >>> print(vm.draining)
            True
        """
        return parse_response(VmResponse, await self._request("POST", _vm_path(vm_id, action)))

    async def pin_vm(self, vm_id: str, until: str) -> VmResponse:
        """Keep a VM until a time, whatever the policy decides. Requires an operator's key.

        Args:
            vm_id: The id of the VM.
            until: The end of the pin, in ISO 8601 with a time zone.

        Raises:
            NotFound: There is no such VM.
            Conflict: The VM has ended or is draining.
            BudgetExceeded: The credits do not cover the VM until then.

        Example:
            >>> await client.pin_vm(vm_id, "2026-01-31T18:00:00Z")
        """
        body = await self._request("POST", _vm_path(vm_id, "pin"), json={"until": until})
        return parse_response(VmResponse, body)

    async def intake(self) -> IntakeResponse:
        """Return whether submissions are accepted and run.

        Example:
            >>> print((await client.intake()).mode)
        """
        return parse_response(IntakeResponse, await self._request("GET", "/intake"))

    async def pause_intake(self, mode: str, reason: str) -> IntakeResponse:
        """Pause the intake. Requires an operator's key.

        Args:
            mode: "queue" to let submissions wait, "refuse" to reject new ones.
            reason: Shown to authors.

        Raises:
            BadRequest: `mode` or `reason` is invalid.

        Example:
            >>> await client.pause_intake("refuse", "The image is being replaced.")
        """
        body = await self._request("POST", "/intake/pause", json={"mode": mode, "reason": reason})
        return parse_response(IntakeResponse, body)

    async def resume_intake(self) -> IntakeResponse:
        """Resume the intake. Requires an operator's key.

        Raises:
            Conflict: The intake is not paused.

        Example:
            >>> await client.resume_intake()
        """
        return parse_response(IntakeResponse, await self._request("POST", "/intake/resume"))

    async def limits(self) -> LimitsResponse:
        """Return the limits that can be changed at run time. Requires an operator's key.

        Example:
            >>> for limit in (await client.limits()).items:
            ...     print(limit.name, limit.value)
        """
        return parse_response(LimitsResponse, await self._request("GET", "/limits"))

    async def teams(self) -> list[TeamSpendingResponse]:
        """Return the teams with their spending today and their budgets. Requires an operator's key.

        Example:
            >>> for team in await client.teams():
            ...     print(team.team, team.spent_usd, team.limit_usd)
        """
        return parse_response(TeamListResponse, await self._request("GET", "/operators/teams")).items

    async def set_team_budget(self, team: str, daily_budget_usd: Decimal | None) -> TeamSpendingResponse:
        """Set how much the members of a team may spend together per day. Requires an admin's key.

        Args:
            team: the name of the team.
            daily_budget_usd: dollars per day (UTC); None restores the service's default.

        Raises:
            NotAllowed: The key's role is not admin.

        Example:
            >>> await client.set_team_budget("kernels", Decimal("25.50"))
        """
        path = f"/operators/teams/{quote(team, safe='')}/budget"
        amount = None if daily_budget_usd is None else float(daily_budget_usd)
        body = await self._request("POST", path, json={"daily_budget_usd": amount})
        return parse_response(TeamSpendingResponse, body)

    async def team(self, team: str) -> TeamDetailResponse:
        """Return a team with its members, assignments and results. For its members, and operators.

        Args:
            team: The name of the team.

        Raises:
            NotFound: There is no such team, or the user is not a member of it.

        Example:
            >>> for assignment in (await client.team("kernels")).assignments:
            ...     print(assignment.title, [result.user for result in assignment.results if result.solved])
        """
        return parse_response(TeamDetailResponse, await self._request("GET", _team_path(team)))

    async def create_assignment(
        self, team: str, *, problem: str, deadline_at: datetime, title: str = ""
    ) -> AssignmentCreatedResponse:
        """Set an assignment for a team. For its managers, and operators.

        Creating the same assignment twice returns the first one.

        Args:
            team: The name of the team.
            problem: The slug or an alias of the problem.
            deadline_at: The deadline, with a time zone. Submissions sent by then count.
            title: The title; the problem's by default.

        Raises:
            BadRequest: The problem does not exist, or the deadline has passed.
            NotFound: There is no such team, or the user is not a member of it.

        Example:
            >>> deadline_at = datetime(2030, 1, 31, 23, 59, tzinfo=UTC)
            >>> team = await client.create_assignment("kernels", problem="relu", deadline_at=deadline_at)
            >>> print(team.assignment_id)
        """
        request = {"problem": problem, "title": title, "deadline_at": deadline_at.isoformat()}
        body = await self._request("POST", _team_path(team, "/assignments"), json=request)
        return parse_response(AssignmentCreatedResponse, body)

    async def change_deadline(
        self, team: str, assignment_id: str, deadline_at: datetime
    ) -> TeamDetailResponse:
        """Change the deadline of an assignment, even a closed one. For managers of the team, and operators.

        Args:
            team: The name of the team.
            assignment_id: The id of the assignment.
            deadline_at: The deadline, with a time zone. Submissions sent by then count.

        Raises:
            BadRequest: The deadline has passed.
            NotFound: There is no such team or assignment.

        Example:
            >>> await client.change_deadline("kernels", assignment_id, datetime(2030, 2, 28, tzinfo=UTC))
        """
        path = _team_path(team, f"/assignments/{quote(assignment_id, safe='')}/deadline")
        body = await self._request("POST", path, json={"deadline_at": deadline_at.isoformat()})
        return parse_response(TeamDetailResponse, body)

    async def team_results(self, team: str) -> bytes:
        """Return the results of every member of a team as CSV. For its managers, and operators.

        Args:
            team: The name of the team.

        Raises:
            NotFound: There is no such team, or the user is not a member of it.

        Example:
            >>> Path("kernels.csv").write_bytes(await client.team_results("kernels"))
        """
        return (await self._send("GET", _team_path(team, "/results.csv"))).content

    async def change_limits(
        self, changes: Mapping[str, str | None], *, reason: str = "", dry_run: bool = False
    ) -> LimitsResponse:
        """Change limits at run time. Requires an operator's key.

        Args:
            changes: New values by name, as text; None restores the configured value.
            reason: For the audit log.
            dry_run: Return only the effects, and change nothing.

        Raises:
            BadRequest: A name or value is invalid.
            Conflict: The credits would not cover what is spent and reserved.

        Example:
            >>> await client.change_limits({"idle_timeout_s": "300"})
        """
        request = {"changes": dict(changes), "reason": reason, "dry_run": dry_run}
        return parse_response(LimitsResponse, await self._request("POST", "/limits", json=request))

    async def alerts(self) -> AlertsResponse:
        """Return the alert rules, the channels and the active alerts. Requires an operator's key.

        Example:
            >>> for alert in (await client.alerts()).active:
            ...     print(alert.text)
        """
        return parse_response(AlertsResponse, await self._request("GET", "/alerts"))

    async def test_alerts(self) -> AlertTestResponse:
        """Send a test message to every channel. Requires an operator's key.

        Raises:
            Conflict: No channel is configured.

        Example:
            >>> for item in (await client.test_alerts()).items:
            ...     print(item.channel, item.ok)
        """
        return parse_response(AlertTestResponse, await self._request("POST", "/alerts/test"))

    async def audit(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> AuditPageResponse:
        """Return one page of the audit log, newest first. Requires an operator's key.

        Args:
            limit: The size of the page, at most 500.
            before: The `next_before` of the previous page.
            actor: Only actions of this user.
            action: Only this action, such as "vm.drain".
            subject: Only actions on this subject, such as the id of a VM.

        Raises:
            BadRequest: A filter is invalid.

        Example:
            >>> for entry in (await client.audit(action="vm.drain")).items:
            ...     print(entry.time, entry.actor, entry.subject)
        """
        filters = {"limit": limit, "before": before, "actor": actor, "action": action, "subject": subject}
        params = {name: value for name, value in filters.items() if value is not None}
        return parse_response(AuditPageResponse, await self._request("GET", "/audit", params=params))

    async def costs(self) -> CostsResponse:
        """Return the credits, and the costs by VM, by activity and by day.

        Example:
            >>> costs = await client.costs()
            >>> for day in costs.by_day:
            ...     print(day.day, day.cost_usd)
        """
        return parse_response(CostsResponse, await self._request("GET", "/costs"))

    async def forecast(self, tasks_per_day: float | None = None) -> PaceForecastListResponse:
        """Forecast how long the credits last at several paces. Takes seconds; requires the role operator.

        Args:
            tasks_per_day: A pace, up to 500, to use instead of the default paces.

        Raises:
            BadRequest: `tasks_per_day` is out of range.

        Example:
            >>> for pace in (await client.forecast()).items:
            ...     print(pace.tasks_per_day, pace.lasts_days)
        """
        params = {} if tasks_per_day is None else {"tasks_per_day": tasks_per_day}
        body = await self._request("GET", "/forecast", params=params, timeout=_SIMULATION_TIMEOUT_S)
        return parse_response(PaceForecastListResponse, body)

    async def what_if(self) -> WhatIfResponse:
        """Compare this month's cost with other policies. Takes seconds; requires the role operator.

        Example:
            >>> for policy in (await client.what_if()).items:
            ...     print(policy.policy, policy.usd)
        """
        body = await self._request("GET", "/what-if", timeout=_SIMULATION_TIMEOUT_S)
        return parse_response(WhatIfResponse, body)

    async def _is_complete(self, submission_id: str, last_event_id: int) -> bool:
        submission = await self.submission(submission_id)
        return submission.state is SubmissionState.DONE and submission.last_event_id <= last_event_id

    async def _stream(self, submission_id: str, after: int) -> AsyncGenerator[ReceivedEvent]:
        """Yield the events of one connection."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        url = self.url
        address = _address(url, _path(submission_id, "/events"))
        try:
            async with self._http.stream("GET", address, headers=headers) as response:
                self._has_responded = True
                if response.status_code in _TRANSIENT_STATUSES:
                    self._leave(url)
                    raise unreachable(url, EOFError(f"HTTP {response.status_code}"))
                if response.status_code == httpx.codes.NO_CONTENT:
                    return  # there is no event after the last received one
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    raise error_from_response(response)
                async with aclosing(messages(response.aiter_bytes())) as stream:
                    async for event_id, data in stream:
                        fields = json.loads(data)
                        yield ReceivedEvent(id=int(event_id), status=fields["status"], fields=fields)
        except httpx.TransportError as error:
            self._raise_if_never_reached(url, error)
            self._leave(url)
            raise unreachable(url, error) from error

    async def _request(self, method: str, path: str, **options: Any) -> Any:  # noqa: ANN401 - httpx's options; JSON
        """Send a request, with retries, and return the JSON body of the response."""
        return (await self._send(method, path, **options)).json()

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - httpx's options
        """Send a request, with retries, and return the response if it is a success."""
        delays_s = self._retry.delays_s()
        while True:
            reason: WarmfrontError
            url = self.url
            try:
                response = await self._http.request(method, _address(url, path), **options)
            except httpx.TransportError as error:
                self._raise_if_never_reached(url, error)
                reason = unreachable(url, error)
            else:
                self._has_responded = True
                if response.is_success:
                    return response
                reason = error_from_response(response)
                if response.status_code not in _TRANSIENT_STATUSES or isinstance(reason, IntakePaused):
                    raise reason
            self._leave(url)
            delay_s = next(delays_s, None)
            if delay_s is None:
                raise reason
            await asyncio.sleep(delay_s)

    def _leave(self, url: str) -> None:
        """Switch to the next address, unless another request has already switched away from this one."""
        if url == self.url:
            self.url = self._urls[(self._urls.index(url) + 1) % len(self._urls)]

    def _raise_if_never_reached(self, url: str, error: httpx.TransportError) -> None:
        """Fail without a retry if no service has ever responded: it was probably never started."""
        if self._has_responded or not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return
        self._refused.add(url)
        if self._refused.issuperset(self._urls):
            raise unreachable(", ".join(self._urls), error) from error


def _address(url: str, path: str) -> str:
    return f"{url}/api/amd{path}"


def _path(submission_id: str, rest: str = "") -> str:
    return f"/submissions/{quote(submission_id, safe='')}{rest}"


def _team_path(team: str, suffix: str = "") -> str:
    return f"/teams/{quote(team, safe='')}{suffix}"


def _vm_path(vm_id: str, action: str) -> str:
    return f"/vms/{quote(vm_id, safe='')}/{quote(action, safe='')}"


def _validate_urls(text: str) -> tuple[str, ...]:
    urls = [url.strip() for url in text.split(",")]
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadSetting(
                f"WARMFRONT_URL is {url!r}; allowed: an http or https address, or several with commas.",
                hint=f"Use an address such as {DEFAULT_URL}.",
            )
    return tuple(url.rstrip("/") for url in urls)


def _headers(api_key: str | None) -> dict[str, str]:
    headers = {VERSION_HEADER: str(SCHEMA_VERSION)}
    if not api_key:
        return headers
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise BadSetting(
            "WARMFRONT_API_KEY is not an API key; keys begin with wf_.",
            hint="Request a key from the operator of the service.",
        )
    return {**headers, "Authorization": f"Bearer {api_key}"}
