"""The control plane's client, against the real listener and against one that misbehaves."""

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


def talk(what: Callable[[ListenerClient], Awaitable[T]], token: str = TOKEN) -> T:
    """Do this with a client."""

    async def main() -> T:
        listeners: ListenerClient = HttpListenerClient(lambda _vm_id: token)
        try:
            return await what(listeners)
        finally:
            await listeners.close()

    return asyncio.run(main())


async def _events(listeners: ListenerClient, *, vm: VMInstance, after: int) -> list[AttemptEvent]:
    return await collect(listeners.events(vm, ATTEMPT.id, after))


async def collect(stream: AsyncIterator[AttemptEvent]) -> list[AttemptEvent]:
    """All of a stream."""
    return [progress async for progress in stream]


@pytest.fixture(scope="module", name="listener")
def _listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("listener")) as running:
        yield running


class TestRealListener:
    """What the client makes of a listener's answers."""

    def test_execute_and_events(self, listener: Listening) -> None:
        """A whole stream comes by executing, and any rest of it by re-attaching."""
        whole = talk(lambda c: collect(c.execute(listener.vm, ATTEMPT)))
        assert whole[-1].fields["status"] == "CHECKED"
        assert [progress.seq for progress in whole] == list(range(1, len(whole) + 1))
        assert "seq" not in whole[0].fields
        for after in (0, 4, len(whole)):
            assert talk(partial(_events, vm=listener.vm, after=after)) == whole[after:]

    def test_cancel(self, listener: Listening) -> None:
        """A cancelled attempt's stream ends with CANCELLED for whoever follows it."""

        async def follow_and_cancel(listeners: ListenerClient) -> list[str]:
            statuses = []
            async for progress in listeners.execute(
                listener.vm, replace(ATTEMPT, id="spins", source=SPINNING)
            ):
                statuses.append(progress.fields["status"])
                if statuses[-1] == "TEST_RESULT":
                    await listeners.cancel(listener.vm, "spins")
            return statuses

        assert talk(follow_and_cancel) == ["COMPILING", "CHECKING", "TEST_RESULT", "CANCELLED"]

    def test_cancel_what_is_unknown(self, listener: Listening) -> None:
        """To cancel what the listener never had is no error."""
        talk(lambda c: c.cancel(listener.vm, "never-was"))

    def test_health_and_heartbeat(self, listener: Listening) -> None:
        """Both say what the listener is."""
        health = talk(lambda c: c.health(listener.vm))
        beat = talk(lambda c: c.heartbeat(listener.vm))
        assert (health.toolchain, health.simulated, health.running) == ("cpu", True, ())
        assert beat.uptime_s > health.uptime_s

    @pytest.mark.parametrize(
        ("do", "error"),
        [
            (lambda c, vm: collect(c.events(vm, "never-was", 0)), UnknownAttempt),
            (lambda c, vm: collect(c.execute(vm, replace(ATTEMPT, id="x", dtype="int8"))), BadRequest),
            (lambda c, vm: collect(c.execute(vm, replace(ATTEMPT, endpoint="submit"))), Conflict),
            (lambda c, vm: c.health(replace(vm, address=None)), VMUnreachable),
            (lambda c, vm: c.health(replace(vm, address="http://127.0.0.1:1")), VMUnreachable),
            (lambda c, vm: c.health(replace(vm, address="nonsense")), VMUnreachable),
        ],
    )
    def test_what_is_refused(
        self,
        listener: Listening,
        do: Callable[[ListenerClient, VMInstance], Awaitable[object]],
        error: type[WarmfrontError],
    ) -> None:
        """A refusal is told apart from a VM that is not there."""
        talk(lambda c: collect(c.execute(listener.vm, ATTEMPT)))
        with pytest.raises(error):
            talk(lambda c: do(c, listener.vm))

    def test_a_wrong_token(self, listener: Listening) -> None:
        """A listener that does not know our token is none of ours."""
        with pytest.raises(VMUnreachable, match="token"):
            talk(lambda c: c.health(listener.vm), token="other")  # noqa: S106 - wrong on purpose


def stream_of(*lines: str, endpoint: str = "submit") -> bytes:
    """A whole answer, as a listener would send it."""
    body = "".join(f"{line}\n" for line in lines).encode()
    head = f"HTTP/1.1 200 OK\r\nWarmfront-Endpoint: {endpoint}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


COMPILING = '{"seq": 1, "status": "COMPILING"}'
CHECKED = '{"seq": 2, "status": "CHECKED"}'


class TestBadListener:
    """What comes of a listener that does not keep to the protocol."""

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(b"", id="closed at once"),
            pytest.param(stream_of(COMPILING)[:-10], id="cut in a line"),
            pytest.param(stream_of(COMPILING, CHECKED), id="ended before the verdict of a submit"),
            pytest.param(stream_of(COMPILING, CHECKED.replace("2", "3")), id="a gap"),
            pytest.param(stream_of("{", endpoint="checker"), id="not JSON"),
            pytest.param(stream_of("[1]", endpoint="checker"), id="not an object"),
            pytest.param(stream_of(COMPILING, endpoint="nothing"), id="an endpoint that is none"),
            pytest.param(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", id="an error of its own"),
            pytest.param(b"SSH-2.0-nothing\r\n", id="not HTTP"),
        ],
    )
    def test_its_stream_is_lost(self, answer: bytes) -> None:
        """Whatever is not a whole stream with a verdict means that the VM is lost."""
        with answering(answer) as vm, pytest.raises(VMUnreachable):
            talk(lambda c: collect(c.execute(vm, ATTEMPT)))

    def test_a_whole_stream(self) -> None:
        """The same answer with its verdict, and signs of life between the lines, is a whole stream."""
        with answering(stream_of("", COMPILING, "", "", CHECKED, endpoint="checker")) as vm:
            assert len(talk(lambda c: collect(c.execute(vm, ATTEMPT)))) == 2

    def test_silence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stream without a sign of life is given up."""
        monkeypatch.setattr(client, "SILENCE_S", 0.2)
        head = b"HTTP/1.1 200 OK\r\nWarmfront-Endpoint: checker\r\nContent-Length: 1000\r\n\r\n"
        with answering(head, hang=True) as vm, pytest.raises(VMUnreachable, match="ReadTimeout"):
            talk(lambda c: collect(c.execute(vm, ATTEMPT)))


class answering:  # noqa: N801 - used like a function, as context managers are
    """A server that reads one request and gives this answer to it."""

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
