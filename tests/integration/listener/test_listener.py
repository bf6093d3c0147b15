"""The HTTP interface of the listener, with the real program and the real judge."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.listeners import (
    HEADERS,
    SOURCE,
    SPINNING,
    TOKEN,
    Listening,
    attempt,
    listening,
    processes_of,
    read_lines,
    spin_until_it_runs,
)
from warmfront import __version__
from warmfront.listener.client import HttpListenerClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warmfront.listener.protocol import ListenerHealth

#: Prints the time of loading and of each call, by a clock that all boxes share.
TIMED = """
#include <cstdio>
#include <ctime>
static void say_when() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::printf("%lld\\n", now.tv_sec * 1000000000LL + now.tv_nsec);
    std::fflush(stdout);
}
static const bool loaded = (say_when(), true);
""" + SOURCE.replace("leaky_relu<<<", "say_when();\n    leaky_relu<<<")


@pytest.fixture(scope="module", name="listener")
def _listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("listener")) as running:
        yield running


class TestStream:
    """The stream of an attempt."""

    def test_an_attempt_to_its_verdict(self, listener: Listening) -> None:
        """The stream of a correct kernel is numbered from 1 without gaps and ends with ACCEPTED."""
        lines = listener.execute("whole", endpoint="submit")
        statuses = [line["status"] for line in lines]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert statuses[:3] == ["COMPILING", "CHECKING", "TEST_RESULT"]
        assert statuses[-1] == "ACCEPTED"
        assert lines[-1]["simulated"] is True

    def test_a_second_post_is_the_same_attempt(self, listener: Listening) -> None:
        """Posting an attempt again does not judge it again: the lines are identical bytes."""
        first = listener.http.post("/execute", json=attempt("twice")).content
        assert listener.http.post("/execute", json=attempt("twice")).content == first

    def test_a_cut_stream_can_be_resumed(self, listener: Listening) -> None:
        """After a stream was cut at line N, the rest can be read with `after=N`."""
        with listener.stream("cut") as lines:
            head = [next(lines) for _ in range(3)]
        tail = read_lines(listener.http.get("/execute/cut/events", params={"after": 3}))
        assert head + tail == read_lines(listener.http.get("/execute/cut/events"))
        assert tail[-1]["status"] == "CHECKED"

    def test_no_lines_after_the_verdict(self, listener: Listening) -> None:
        """The response is 204 if the client already has the verdict."""
        count = len(listener.execute("done"))
        assert listener.http.get("/execute/done/events", params={"after": count}).status_code == 204

    def test_a_kernel_that_does_not_compile(self, listener: Listening) -> None:
        """A compile error names the author's file, and the next attempt is judged normally."""
        lines = listener.execute("broken", source="int x = ;")
        assert lines[-1]["status"] == "COMPILE_ERROR"
        assert "mine.hip:1" in lines[-1]["message"]
        assert listener.execute("after-broken")[-1]["status"] == "CHECKED"


class TestCancel:
    """Cancelling attempts."""

    def test_a_kernel_that_never_ends(self, listener: Listening) -> None:
        """The response is sent when the box is destroyed, and the verdict is CANCELLED."""
        with listener.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            (box,) = listener.loaded_boxes()
            assert processes_of(box) != []
            assert listener.http.delete("/execute/spins").status_code == 204
            assert (box.exists(), processes_of(box)) == (False, [])
            assert [(line["status"], line["code"]) for line in lines] == [("CANCELLED", "CANCELLED")]

    def test_a_waiting_attempt(self, listener: Listening) -> None:
        """An attempt that waits behind others can be cancelled before it starts."""
        with listener.stream("first", source=SPINNING) as first:
            spin_until_it_runs(first)
            with listener.stream("second") as second:
                assert next(second)["status"] == "COMPILING"
                with ThreadPoolExecutor(1) as pool:
                    third = pool.submit(listener.execute, "third")
                    while "third" not in listener.http.get("/health").json()["running"]:
                        pass
                    assert listener.http.delete("/execute/third").status_code == 204
                    assert [line["status"] for line in third.result()] == ["CANCELLED"]
                assert listener.http.delete("/execute/second").status_code == 204
                assert [line["status"] for line in second] == ["CANCELLED"]
            assert listener.http.get("/health").json()["running"] == ["first"]
            listener.http.delete("/execute/first")

    def test_a_finished_attempt(self, listener: Listening) -> None:
        """Cancelling a finished attempt is not an error and has no effect."""
        lines = listener.execute("finished")
        assert listener.http.delete("/execute/finished").status_code == 204
        assert read_lines(listener.http.get("/execute/finished/events")) == lines


class TestPipeline:
    """Attempts compile and run one at a time."""

    def test_the_next_compiles_while_one_runs(self, listener: Listening) -> None:
        """A second attempt compiles while the first runs, and runs after the first has ended."""
        with (
            listener.stream("runs", source=SPINNING) as runs,
            listener.stream("compiles") as compiles,
        ):
            spin_until_it_runs(runs)
            assert next(compiles)["status"] == "COMPILING"
            assert listener.http.get("/health").json()["running"] == ["runs", "compiles"]
            listener.http.delete("/execute/runs")
            assert [line["status"] for line in compiles][-1] == "CHECKED"

    def test_two_never_run_at_once(self, listener: Listening) -> None:
        """The kernels of attempts that arrive together run one after the other."""
        with ThreadPoolExecutor(4) as pool:
            streams = list(pool.map(lambda n: listener.execute(f"timed-{n}", source=TIMED), range(4)))
        times = sorted([int(line) for line in stream[-1]["output"].split()] for stream in streams)
        assert all(len(calls) > 10 for calls in times)
        assert all(max(calls) < min(next_calls) for calls, next_calls in pairwise(times))


class TestBoxes:
    """Prepared boxes between attempts."""

    def test_boxes_do_not_accumulate(self, listener: Listening) -> None:
        """One box per template is kept, even if attempts end before they use their prepared boxes."""
        for number in range(4):
            name = f"unused-{number}"
            assert listener.execute(name, source="int x = ;")[-1]["status"] == "COMPILE_ERROR"
            listener.http.delete(f"/execute/{name}")  # responds when the boxes of the attempt are destroyed
            assert len([path for path in listener.boxes.glob("*/*") if path.is_dir()]) <= 2


class TestErrors:
    """Rejected requests."""

    @pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/execute"),
            ("GET", "/execute/any/events"),
            ("DELETE", "/execute/any"),
            ("GET", "/health"),
            ("POST", "/heartbeat"),
            ("GET", "/no/such/route"),
        ],
    )
    def test_without_the_token(
        self, listener: Listening, method: str, path: str, headers: dict[str, str]
    ) -> None:
        """Every request without the token is rejected."""
        answer = httpx.request(method, f"{listener.address}{path}", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED")

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"id": "../etc"}, "id"),
            ({"id": 7}, "id"),
            ({"source": None}, "source"),
            ({"source": " "}, "source"),
            ({"source": "a\0b"}, "source"),
            ({"source": "x" * 300_000}, "source"),
            ({"file_name": "a/b"}, "file_name"),
            ({"problem": "no-such-problem"}, "problem"),
            ({"problem": ["leaky-relu"]}, "problem"),
            ({"dtype": "float64"}, "dtype"),
            ({"endpoint": "xray"}, "endpoint"),
            ({"problem_def": 1}, "problem_def"),
            ({"shell": "rm"}, "shell"),
        ],
    )
    def test_an_invalid_field(self, listener: Listening, changes: dict[str, Any], field: str) -> None:
        """The response names the invalid field, and nothing is started."""
        answer = listener.http.post("/execute", json=attempt("bad", **changes))
        assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert answer.headers["content-type"] == "application/problem+json"
        assert listener.http.get("/execute/bad/events").status_code == 404

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 200_000, b'"\xff"', b'{"source": "\\ud800"}'])
    def test_an_invalid_body(self, listener: Listening, body: bytes) -> None:
        """A body that is not a JSON object with the fields of an attempt is rejected."""
        assert listener.http.post("/execute", content=body).status_code == 422

    def test_an_unpaired_surrogate(self, listener: Listening) -> None:
        """A source with an unpaired surrogate is rejected."""
        body = httpx.Request("POST", listener.address, json=attempt("half", source="@")).content
        answer = listener.http.post("/execute", content=body.replace(b"@", b"\\ud800"))
        assert (answer.status_code, answer.json()["field"]) == (422, "source")

    def test_a_large_body(self, listener: Listening) -> None:
        """A body of more than 1 MiB is rejected without reading all of it."""
        assert listener.http.post("/execute", content=b" " * (1 << 20) + b"{}").status_code == 413

    def test_an_id_in_use(self, listener: Listening) -> None:
        """A different attempt with the same id is a conflict; the first attempt keeps its stream."""
        listener.execute("taken")
        assert listener.http.post("/execute", json=attempt("taken", source="x")).status_code == 409
        assert listener.execute("taken")[-1]["status"] == "CHECKED"

    @pytest.mark.parametrize("after", ["-1", "x", "1.5", "99999", "9" * 30])
    def test_lines_that_do_not_exist(self, listener: Listening, after: str) -> None:
        """An `after` beyond the last line is rejected."""
        listener.execute("short")
        answer = listener.http.get("/execute/short/events", params={"after": after})
        assert (answer.status_code, answer.json()["field"]) == (422, "after")

    @pytest.mark.parametrize(("method", "path"), [("GET", "/execute/no/events"), ("DELETE", "/execute/no")])
    def test_an_unknown_attempt(self, listener: Listening, method: str, path: str) -> None:
        """An unknown attempt is 404, unlike a finished one."""
        answer = listener.http.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_ATTEMPT")


class TestConnections:
    """Connections without the token, and UNIX sockets."""

    def test_idle_connections_do_not_keep_the_control_plane_out(self, listener: Listening) -> None:
        """600 clients send nothing, or no token; new and existing connections are still served."""
        with contextlib.ExitStack() as stack:
            address = urlsplit(listener.address)
            for number in range(600):
                peer = stack.enter_context(socket.create_connection((address.hostname, address.port)))
                peer.sendall(b"GET /health HTTP/1.1\r\n" if number % 2 else b"")
            assert listener.http.get("/health").status_code == 200
            assert httpx.get(f"{listener.address}/health", headers=HEADERS).status_code == 200

    def test_a_wrong_token_ends_the_connection(self, listener: Listening) -> None:
        """A client without the token cannot hold a connection."""
        with httpx.Client(base_url=listener.address) as stranger:
            answer = stranger.get("/health")
        assert (answer.status_code, answer.headers["connection"]) == (401, "close")

    def test_a_unix_socket_is_private(self, tmp_path: Path) -> None:
        """Its path may be longer than the kernel accepts; only its user can connect; its end removes it."""
        folder = tmp_path / ("long" * 30)
        folder.mkdir()
        path = folder / "listener.sock"
        with listening(folder, "--uds", str(path)) as running:
            assert running.address == f"unix:{path}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

            async def health() -> ListenerHealth:
                client = HttpListenerClient(lambda _vm_id: TOKEN)
                try:
                    return await client.health(running.vm)
                finally:
                    await client.close()

            assert asyncio.run(health()).toolchain == "cpu"
        assert not path.exists()


class TestHealth:
    """Health and heartbeat."""

    def test_health(self, listener: Listening) -> None:
        """Health has the version, the toolchain and the simulated GPU."""
        health = listener.http.get("/health").json()
        fields = {name: health[name] for name in ("version", "toolchain", "gpu", "simulated", "running")}
        assert fields == {
            "version": __version__,
            "toolchain": "cpu",
            "gpu": "MI300X",
            "simulated": True,
            "running": [],
        }

    def test_a_heartbeat(self, listener: Listening) -> None:
        """`heartbeat_age_s` counts from the last heartbeat."""
        first = listener.http.post("/heartbeat").json()
        later = listener.http.get("/health").json()
        waited_s = later["uptime_s"] - first["uptime_s"]
        assert later["heartbeat_age_s"] == pytest.approx(first["heartbeat_age_s"] + waited_s)
