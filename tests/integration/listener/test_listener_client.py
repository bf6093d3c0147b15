"""The listener client, against a real listener and against a server that violates the protocol."""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.support.listeners import SOURCE, SPINNING, TOKEN, Listening, listening
from warmfront.errors import BadRequest, Conflict, UnknownAttempt, VMUnreachable, WarmfrontError
from warmfront.listener import client
from warmfront.listener.client import HttpListenerClient
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerClient
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

T = TypeVar("T")

ATTEMPT = ExecuteRequest(
    id="a1", source=SOURCE, file_name="mine.hip", problem="leaky-relu", dtype="float32", endpoint="checker"
)


def with_client(action: Callable[[ListenerClient], Awaitable[T]], token: str = TOKEN) -> T:
    """Run `action` with a new client."""

    async def main() -> T:
        listeners: ListenerClient = HttpListenerClient(lambda _vm_id: token)
        try:
            return await action(listeners)
        finally:
            await listeners.close()

    return asyncio.run(main())


async def _events(listeners: ListenerClient, *, vm: VMInstance, after: int) -> list[AttemptEvent]:
    return await collect(listeners.events(vm, ATTEMPT.id, after))


async def collect(stream: AsyncIterator[AttemptEvent]) -> list[AttemptEvent]:
    """Return all events of a stream."""
    return [event async for event in stream]


@pytest.fixture(scope="module", name="listener")
def _listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("listener")) as running:
        yield running


class TestRealListener:
    """The client with a real listener."""

    def test_execute_and_events(self, listener: Listening) -> None:
        """`execute` returns the whole stream, and `events` the rest of it after any event."""
        whole = with_client(lambda listeners: collect(listeners.execute(listener.vm, ATTEMPT)))
        assert whole[-1].fields["status"] == "CHECKED"
        assert [event.seq for event in whole] == list(range(1, len(whole) + 1))
        assert "seq" not in whole[0].fields
        for after in (0, 4, len(whole)):
            assert with_client(partial(_events, vm=listener.vm, after=after)) == whole[after:]

    def test_cancel(self, listener: Listening) -> None:
        """The stream of a cancelled attempt ends with CANCELLED."""

        async def follow_and_cancel(listeners: ListenerClient) -> list[str]:
            statuses = []
            async for event in listeners.execute(listener.vm, replace(ATTEMPT, id="spins", source=SPINNING)):
                statuses.append(event.fields["status"])
                if statuses[-1] == "TEST_RESULT":
                    await listeners.cancel(listener.vm, "spins")
            return statuses

        assert with_client(follow_and_cancel) == ["COMPILING", "CHECKING", "TEST_RESULT", "CANCELLED"]

    def test_cancel_an_unknown_attempt(self, listener: Listening) -> None:
        """Cancelling an unknown attempt is not an error."""
        with_client(lambda listeners: listeners.cancel(listener.vm, "never-was"))

    def test_health_and_heartbeat(self, listener: Listening) -> None:
        """Both return the state of the listener."""
        health = with_client(lambda listeners: listeners.health(listener.vm))
        heartbeat = with_client(lambda listeners: listeners.heartbeat(listener.vm))
        assert (health.toolchain, health.simulated, health.running) == ("cpu", True, ())
        assert heartbeat.uptime_s > health.uptime_s

    @pytest.mark.parametrize(
        ("do", "error"),
        [
            (lambda listeners, vm: collect(listeners.events(vm, "never-was", 0)), UnknownAttempt),
            (
                lambda listeners, vm: collect(listeners.execute(vm, replace(ATTEMPT, id="x", dtype="int8"))),
                BadRequest,
            ),
            (
                lambda listeners, vm: collect(listeners.execute(vm, replace(ATTEMPT, endpoint="submit"))),
                Conflict,
            ),
            (lambda listeners, vm: listeners.health(replace(vm, address=None)), VMUnreachable),
            (
                lambda listeners, vm: listeners.health(replace(vm, address="http://127.0.0.1:1")),
                VMUnreachable,
            ),
            (lambda listeners, vm: listeners.health(replace(vm, address="nonsense")), VMUnreachable),
        ],
    )
    def test_errors(
        self,
        listener: Listening,
        do: Callable[[ListenerClient, VMInstance], Awaitable[object]],
        error: type[WarmfrontError],
    ) -> None:
        """A rejected request and an unreachable VM raise different errors."""
        with_client(lambda listeners: collect(listeners.execute(listener.vm, ATTEMPT)))
        with pytest.raises(error):
            with_client(lambda listeners: do(listeners, listener.vm))

    def test_a_wrong_token(self, listener: Listening) -> None:
        """A listener that rejects our token counts as unreachable."""
        with pytest.raises(VMUnreachable, match="token"):
            with_client(lambda listeners: listeners.health(listener.vm), token="other")  # noqa: S106 - intentionally wrong


def stream_of(*lines: str, endpoint: str = "submit") -> bytes:
    """Return a complete HTTP response with these lines."""
    body = "".join(f"{line}\n" for line in lines).encode()
    head = f"HTTP/1.1 200 OK\r\nWarmfront-Endpoint: {endpoint}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


COMPILING = '{"seq": 1, "status": "COMPILING"}'
CHECKED = '{"seq": 2, "status": "CHECKED"}'


class TestBadListener:
    """The client with a listener that violates the protocol."""

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(b"", id="closed immediately"),
            pytest.param(stream_of(COMPILING)[:-10], id="cut within a line"),
            pytest.param(stream_of(COMPILING, CHECKED), id="ended before the verdict of a submit"),
            pytest.param(stream_of(COMPILING, CHECKED.replace("2", "3")), id="a gap"),
            pytest.param(stream_of("{", endpoint="checker"), id="not JSON"),
            pytest.param(stream_of("[1]", endpoint="checker"), id="not an object"),
            pytest.param(stream_of(COMPILING, endpoint="nothing"), id="an unknown endpoint"),
            pytest.param(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", id="an HTTP error"),
            pytest.param(b"SSH-2.0-nothing\r\n", id="not HTTP"),
        ],
    )
    def test_an_incomplete_stream(self, answer: bytes) -> None:
        """A stream that is not complete and valid raises `VMUnreachable`."""
        with answering(answer) as vm, pytest.raises(VMUnreachable):
            with_client(lambda listeners: collect(listeners.execute(vm, ATTEMPT)))

    def test_a_complete_stream(self) -> None:
        """A stream with a verdict is complete; keep-alive lines are skipped."""
        with answering(stream_of("", COMPILING, "", "", CHECKED, endpoint="checker")) as vm:
            assert len(with_client(lambda listeners: collect(listeners.execute(vm, ATTEMPT)))) == 2

    def test_silence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stream without keep-alive lines raises `VMUnreachable`."""
        monkeypatch.setattr(client, "SILENCE_S", 0.2)
        head = b"HTTP/1.1 200 OK\r\nWarmfront-Endpoint: checker\r\nContent-Length: 1000\r\n\r\n"
        with answering(head, hang=True) as vm, pytest.raises(VMUnreachable, match="ReadTimeout"):
            with_client(lambda listeners: collect(listeners.execute(vm, ATTEMPT)))


class answering:  # noqa: N801 - a context manager, used like a function
    """A server that reads one request and sends this response."""

    def __init__(self, answer: bytes, *, hang: bool = False) -> None:
        self._answer = answer
        self._hang = threading.Event()
        if not hang:
            self._hang.set()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> VMInstance:
        self._thread.start()
        address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        return VMInstance(
            id="bad", provider="local", gpu="MI300X", state=VMState.WARM, created_at=0.0, address=address
        )

    def __exit__(self, *exc: object) -> None:
        self._hang.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            request = b""
            while b'"endpoint"' not in request:
                request += connection.recv(1 << 16)
            connection.sendall(self._answer)
            self._hang.wait()
