"""A complete service in virtual time, tested over ASGI: real routes, store and orchestrator, fake VMs.

A test gets an `ApiHarness`; waiting takes no real time.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warmfront.api.app import create_app
from warmfront.api.context import ServiceContext
from warmfront.events import Xray
from warmfront.hip.xray import XrayReport
from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.roles import Role
from warmfront.service.billing_reconciliation import BillingReconciler
from warmfront.settings import Settings
from warmfront.simulate.virtual_time import VirtualClock, run_virtual
from warmfront.store import account_queries
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.testing.fake_listeners import FakeListeners
from warmfront.testing.fake_provider import FakeProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from fastapi import FastAPI
    from starlette.types import Message

    from warmfront.submission import Submission

#: A source that compiles on the simulated target; one with this word does not.
GOOD = "// a kernel\n"
BROKEN = "// DOES_NOT_COMPILE\n"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)

    def events(self) -> list[dict[str, Any]]:
        """Return the events of a stream."""
        return parse_events(self.body)


def parse_events(body: bytes) -> list[dict[str, Any]]:
    """Return the data of every event of a stream; skip comments."""
    blocks = [block for block in body.decode().split("\n\n") if block and not block.startswith(":")]
    return [json.loads(block.split("\ndata: ", 1)[1]) for block in blocks]


@dataclass(kw_only=True, eq=False)
class Exchange:
    """A request in progress, seen from its client."""

    sent: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    gone: asyncio.Event = field(default_factory=asyncio.Event)  #: the client has disconnected
    reading: asyncio.Event = field(default_factory=asyncio.Event)  #: unset: the client reads nothing
    task: asyncio.Task[None] | None = None
    pulled: int = 0  #: chunks of the body that the service has read

    async def next_chunk(self) -> bytes | None:
        """Return the next chunk of the response's body; None after the last."""
        while True:
            message = await self.sent.get()
            if message["type"] == "http.response.body":
                return message["body"] if message.get("more_body") or message["body"] else None


class Client:
    """Sends requests to an application over ASGI, without a socket."""

    def __init__(self, app: FastAPI, *, key: str | None = None, host: str = "127.0.0.1:3000") -> None:
        self.app = app
        self._headers = {"host": host, **({"authorization": f"Bearer {key}"} if key else {})}

    def with_key(self, key: str | None) -> Client:
        """Return a client of the same service with another key."""
        return Client(self.app, key=key)

    async def get(self, path: str, **headers: str) -> Answer:
        """Send a GET request; underscores in header names become hyphens."""
        return await self.ask("GET", path, headers=headers)

    async def post(self, path: str, body: object = None, **headers: str) -> Answer:
        """Send a POST request with a JSON body."""
        if body is None:
            return await self.ask("POST", path, headers=headers)
        return await self.ask(
            "POST", path, [json.dumps(body).encode()], {"content-type": "application/json", **headers}
        )

    async def submit(self, *, accept: str = "application/json", **fields: Any) -> Answer:
        """Submit a valid kernel; `fields` override the request."""
        body = {"solution_code": GOOD, "problem": "leaky-relu", "endpoint": "checker", **fields}
        return await self.post("/api/amd/submit", body, accept=accept)

    async def ask(
        self, method: str, path: str, body: Iterable[bytes] = (), headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request and return the complete response."""
        exchange = self.begin(method, path, body, headers)
        assert exchange.task is not None
        await exchange.task
        messages = [exchange.sent.get_nowait() for _ in range(exchange.sent.qsize())]
        found = {k.decode(): v.decode() for k, v in messages[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(status=messages[0]["status"], headers=found, body=content)

    def begin(
        self, method: str, path: str, body: Iterable[bytes] = (), headers: Mapping[str, str] | None = None
    ) -> Exchange:
        """Start a request whose response is read in chunks."""
        exchange = Exchange()
        exchange.reading.set()
        pieces = iter(body)

        async def receive() -> Message:
            exchange.pulled += 1
            piece = next(pieces, None)
            if piece is not None:
                return {"type": "http.request", "body": piece, "more_body": True}
            if exchange.pulled <= 1 or not ended:
                ended.append(True)
                return {"type": "http.request", "body": b"", "more_body": False}
            await exchange.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            await exchange.reading.wait()
            exchange.sent.put_nowait(message)

        ended: list[bool] = []
        scope = _scope(method, path, {**self._headers, **(headers or {})})
        exchange.task = asyncio.ensure_future(self.app(scope, receive, send))
        return exchange


def _scope(method: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    place, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(k.replace("_", "-").lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 3000),
    }


class ApiHarness:
    """The service and its components."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = VirtualClock(asyncio.get_running_loop())
        self.database = MemoryDatabase()
        self.bus = EventBus()
        self.store: Any = Store(self.database, self.bus)
        self.provider: Any = FakeProvider(
            clock=self.clock, max_cpu_nodes=settings.cpu_max_nodes if settings.has_cpu_nodes else 0
        )
        self.listeners = FakeListeners(self.provider, clock=self.clock)
        numbers = itertools.count(1)
        self.log = EventLog(self.store, self.bus)

        def new_id(prefix: str) -> str:
            return f"{prefix}_{next(numbers)}"

        self.orchestrator = VMOrchestrator(
            store=self.store,
            provider=self.provider,
            listeners=self.listeners,
            xray=xray_submission,
            settings=settings,
            clock=self.clock,
            token_for=lambda vm_id: f"token of {vm_id}",
            new_id=new_id,
        )
        self.billing_reconciler = BillingReconciler(self.store, self.provider, self.clock)
        self.service = ServiceContext(
            settings=settings,
            store=self.store,
            orchestrator=self.orchestrator,
            log=self.log,
            provider=self.provider,
            clock=self.clock,
            new_id=new_id,
            xray=xray,
            billing_reconciler=self.billing_reconciler,
        )
        self.client = Client(create_app(self.service))

    def key(self, user: str, role: Role = Role.AUTHOR) -> str:
        """Create an API key and return its secret."""
        _, secret = self.database.run(account_queries.create_key, user, role, self.clock.now())
        return secret

    def user(self, name: str, role: Role = Role.AUTHOR) -> Client:
        """Return a client with a new key of this user."""
        return self.client.with_key(self.key(name, role))


async def xray_submission(record: Submission, source: str) -> Xray:
    """Return the XRAY event of a source; only one with DOES_NOT_COMPILE does not compile."""
    broken = "DOES_NOT_COMPILE" in source
    return Xray(
        arch="gfx942",
        gpu=record.gpu,
        compiler="none",
        compiles=not broken,
        kernels=[],
        findings=[],
        message="the source says so" if broken else "",
    )


async def xray(source: str, *, arch: str, problem: object, dtype: object) -> XrayReport:
    """Return an empty report that has the arguments in its notes."""
    return XrayReport(
        arch=arch, gpu="MI300X", compiler="none", seconds=0.0, notes=(source, str(problem), str(dtype))
    )


def served(
    *, before: Callable[[ApiHarness], None] | None = None, start: bool = True, **settings: Any
) -> Callable[[Callable[[ApiHarness], Awaitable[None]]], Callable[[], None]]:
    """Run a test against a service with these settings; `before` is called before the service starts."""

    def wrap(test: Callable[[ApiHarness], Awaitable[None]]) -> Callable[[], None]:
        async def main() -> None:
            harness = ApiHarness(Settings(**settings))
            try:
                if before is not None:
                    before(harness)
                if start:
                    await harness.orchestrator.start()
                await test(harness)
                await harness.orchestrator.stop()
            finally:
                harness.database.dispose()

        def run() -> None:
            run_virtual(main())

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return wrap
