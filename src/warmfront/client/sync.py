"""The client without `await`: it runs `AsyncClient` on an event loop in its own thread.

Each method is derived from the one of `AsyncClient`, with its types and docstring. The thread is needed
because the calling thread may already have a running event loop, as in a notebook.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from warmfront.client.aio import AsyncClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator

    from warmfront.client.retry import Retry

#: How long to wait for a cancelled coroutine to release its resources.
_CANCEL_TIMEOUT_S = 5.0

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    @functools.wraps(method)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._client, *args, **kwargs))

    return call


def _blocking_iterator(
    method: Callable[Concatenate[AsyncClient, P], AsyncGenerator[T]],
) -> Callable[Concatenate[Client, P], Generator[T]]:
    @functools.wraps(method)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Generator[T]:
        return self._loop.iterate(method(self._client, *args, **kwargs))

    return call


class Client:
    """A client of one Warmfront service, for code without asyncio. Use it with `with`, or call `close`.

    The methods, their arguments and their exceptions are those of `AsyncClient`, without `await`.

    Args:
        url: The address of the service; WARMFRONT_URL, or http://127.0.0.1:3000, by default.
        api_key: An API key; WARMFRONT_API_KEY by default.
        retry: How often to retry after a dropped connection.

    Raises:
        BadSetting: `url` is not an HTTP address or `api_key` is not a key.

    Example:
        >>> with Client() as client:
        ...     submission_id = client.submit(code, problem="relu", endpoint="checker")
        ...     print(client.result(submission_id).verdict)
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, retry: Retry | None = None
    ) -> None:
        self._client = AsyncClient(url, api_key, retry=retry)
        self.url = self._client.url  #: the first address
        self._loop = LoopThread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread. Submissions continue on the server.

        Example:
            >>> client = Client()
            >>> client.close()
        """
        if self._loop.is_open:
            self._loop.run(self._client.close())
            self._loop.close()

    submit = _blocking(AsyncClient.submit)
    events = _blocking_iterator(AsyncClient.events)
    result = _blocking(AsyncClient.result)
    cancel = _blocking(AsyncClient.cancel)
    submission = _blocking(AsyncClient.submission)
    submissions = _blocking(AsyncClient.submissions)
    receipt = _blocking(AsyncClient.receipt)
    signing_keys = _blocking(AsyncClient.signing_keys)
    metrics = _blocking(AsyncClient.metrics)
    vms = _blocking(AsyncClient.vms)
    provisioning = _blocking(AsyncClient.provisioning)
    reset_provisioning = _blocking(AsyncClient.reset_provisioning)
    vm_actions = _blocking(AsyncClient.vm_actions)
    cancel_effect = _blocking(AsyncClient.cancel_effect)
    user = _blocking(AsyncClient.user)
    intake_actions = _blocking(AsyncClient.intake_actions)
    act_on_vm = _blocking(AsyncClient.act_on_vm)
    pin_vm = _blocking(AsyncClient.pin_vm)
    intake = _blocking(AsyncClient.intake)
    pause_intake = _blocking(AsyncClient.pause_intake)
    resume_intake = _blocking(AsyncClient.resume_intake)
    limits = _blocking(AsyncClient.limits)
    change_limits = _blocking(AsyncClient.change_limits)
    teams = _blocking(AsyncClient.teams)
    set_team_budget = _blocking(AsyncClient.set_team_budget)
    team = _blocking(AsyncClient.team)
    create_assignment = _blocking(AsyncClient.create_assignment)
    change_deadline = _blocking(AsyncClient.change_deadline)
    team_results = _blocking(AsyncClient.team_results)
    alerts = _blocking(AsyncClient.alerts)
    test_alerts = _blocking(AsyncClient.test_alerts)
    audit = _blocking(AsyncClient.audit)
    costs = _blocking(AsyncClient.costs)
    forecast = _blocking(AsyncClient.forecast)
    what_if = _blocking(AsyncClient.what_if)


class LoopThread:
    """An event loop that runs in its own thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="warmfront-client", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether the loop still accepts coroutines."""
        return not self._loop.is_closed()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it.

        An exception here, such as Ctrl-C, cancels the coroutine.
        """
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_signal_end(coroutine, ended), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            ended.wait(_CANCEL_TIMEOUT_S)  # the next call may need a resource that the coroutine still holds
            raise

    def iterate(self, items: AsyncGenerator[T]) -> Generator[T]:
        """Yield the items of an async generator, one at a time."""
        try:
            while True:
                yield self.run(_next(items))
        except StopAsyncIteration:
            return
        finally:
            self.run(_end(items))

    def close(self) -> None:
        """Stop the loop and join the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _signal_end(coroutine: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await coroutine
    finally:
        ended.set()


async def _next(items: AsyncGenerator[T]) -> T:
    return await anext(items)


async def _end(items: AsyncGenerator[Any]) -> None:
    await items.aclose()
