"""The same client without `await`: an event loop in a thread of its own does the work.

Nothing is written twice: each method is made from the one of `AsyncClient`, with its types and its text.
A thread, as this must also work where an event loop runs already, such as in a notebook.
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

#: Seconds for work that was cancelled to put down what it holds.
_LET_GO_S = 5.0

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
    """A Warmfront service, by its address; every call returns when it is done. Close it, or use `with`.

    `url` and `api_key` default to WARMFRONT_URL (http://127.0.0.1:3000) and WARMFRONT_API_KEY.
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, retry: Retry | None = None
    ) -> None:
        self._client = AsyncClient(url, api_key, retry=retry)
        self.url = self._client.url
        self._loop = LoopThread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections and the thread. Submissions go on."""
        if self._loop.is_open:
            self._loop.run(self._client.close())
            self._loop.close()

    submit = _blocking(AsyncClient.submit)
    events = _blocking_iterator(AsyncClient.events)
    result = _blocking(AsyncClient.result)
    cancel = _blocking(AsyncClient.cancel)
    submission = _blocking(AsyncClient.submission)
    submissions = _blocking(AsyncClient.submissions)
    metrics = _blocking(AsyncClient.metrics)
    vms = _blocking(AsyncClient.vms)
    costs = _blocking(AsyncClient.costs)
    forecast = _blocking(AsyncClient.forecast)
    what_if = _blocking(AsyncClient.what_if)


class LoopThread:
    """An event loop in a thread, for callers who have none."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="warmfront-client", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether it still takes work."""
        return not self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work in the loop, and wait; Ctrl-C here ends it there."""
        over = threading.Event()
        doing = asyncio.run_coroutine_threadsafe(_telling(work, over), self._loop)
        try:
            return doing.result()
        except BaseException:
            doing.cancel()
            over.wait(_LET_GO_S)  # what follows may need what the work still holds
            raise

    def iterate(self, items: AsyncGenerator[T]) -> Generator[T]:
        """The items, each asked for when the one before was taken."""
        try:
            while True:
                yield self.run(_next(items))
        except StopAsyncIteration:
            return
        finally:
            self.run(_end(items))

    def close(self) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _telling(work: Coroutine[Any, Any, T], over: threading.Event) -> T:
    try:
        return await work
    finally:
        over.set()


async def _next(items: AsyncGenerator[T]) -> T:
    return await anext(items)


async def _end(items: AsyncGenerator[Any]) -> None:
    await items.aclose()
