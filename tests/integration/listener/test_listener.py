"""The listener's interface, spoken to the real program with the real judge behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.listeners import (
    SOURCE,
    SPINNING,
    Listening,
    attempt,
    listening,
    processes_of,
    read_lines,
    spin_until_it_runs,
)
from warmfront import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Says when it was loaded and when each call was done, by a clock that all boxes share.
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
    """What an attempt's stream has."""

    def test_an_attempt_to_its_verdict(self, listener: Listening) -> None:
        """A right kernel's stream counts from 1 without gap and ends with ACCEPTED."""
        lines = listener.execute("whole", endpoint="submit")
        statuses = [line["status"] for line in lines]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert statuses[:3] == ["COMPILING", "CHECKING", "TEST_RESULT"]
        assert statuses[-1] == "ACCEPTED"
        assert lines[-1]["simulated"] is True

    def test_a_second_post_is_the_same_attempt(self, listener: Listening) -> None:
        """Posting an attempt again judges nothing again: its lines are the same to the byte."""
        first = listener.http.post("/execute", json=attempt("twice")).content
        assert listener.http.post("/execute", json=attempt("twice")).content == first

    def test_a_cut_stream_goes_on(self, listener: Listening) -> None:
        """Who was cut off after N lines gets the others by asking for those after N."""
        with listener.stream("cut") as lines:
            head = [next(lines) for _ in range(3)]
        tail = read_lines(listener.http.get("/execute/cut/events", params={"after": 3}))
        assert head + tail == read_lines(listener.http.get("/execute/cut/events"))
        assert tail[-1]["status"] == "CHECKED"

    def test_nothing_more_to_tell(self, listener: Listening) -> None:
        """Who has the verdict already is told that nothing follows."""
        count = len(listener.execute("done"))
        assert listener.http.get("/execute/done/events", params={"after": count}).status_code == 204

    def test_a_kernel_that_does_not_compile(self, listener: Listening) -> None:
        """A compile error is a verdict, in the author's name for the file, and the next attempt is judged."""
        lines = listener.execute("broken", source="int x = ;")
        assert lines[-1]["status"] == "COMPILE_ERROR"
        assert "mine.hip:1" in lines[-1]["message"]
        assert listener.execute("after-broken")[-1]["status"] == "CHECKED"


class TestCancel:
    """What a cancel stops."""

    def test_a_kernel_that_never_ends(self, listener: Listening) -> None:
        """A cancel answers when the sandbox is gone, and the verdict is CANCELLED."""
        with listener.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            (box,) = listener.loaded_boxes()
            assert processes_of(box) != []
            assert listener.http.delete("/execute/spins").status_code == 204
            assert (box.exists(), processes_of(box)) == (False, [])
            assert [(line["status"], line["code"]) for line in lines] == [("CANCELLED", "CANCELLED")]

    def test_one_that_waits(self, listener: Listening) -> None:
        """An attempt that waits behind others can be cancelled before anything of it was started."""
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

    def test_one_that_is_finished(self, listener: Listening) -> None:
        """Cancelling what has its verdict is no error and changes nothing."""
        lines = listener.execute("finished")
        assert listener.http.delete("/execute/finished").status_code == 204
        assert read_lines(listener.http.get("/execute/finished/events")) == lines


class TestTurns:
    """Who runs when."""

    def test_the_next_compiles_while_one_runs(self, listener: Listening) -> None:
        """A second attempt compiles while the first runs, and begins when the first is gone."""
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
        """The kernels of attempts that came together run one after the other."""
        with ThreadPoolExecutor(4) as pool:
            streams = list(pool.map(lambda n: listener.execute(f"timed-{n}", source=TIMED), range(4)))
        times = sorted([int(line) for line in stream[-1]["output"].split()] for stream in streams)
        assert all(len(one) > 10 for one in times)
        assert all(max(one) < min(next_one) for one, next_one in pairwise(times))


class TestBoxes:
    """What is kept ready between attempts."""

    def test_nothing_piles_up(self, listener: Listening) -> None:
        """However many attempts end before they use what was prepared, one box of each kind is kept."""
        for number in range(4):
            name = f"unused-{number}"
            assert listener.execute(name, source="int x = ;")[-1]["status"] == "COMPILE_ERROR"
            listener.http.delete(f"/execute/{name}")  # answers when its own boxes are gone
            assert len([path for path in listener.boxes.glob("*/*") if path.is_dir()]) <= 2


class TestRefusals:
    """What is not taken, and how that is said."""

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
        """Who does not have the token gets nothing, whatever is asked for."""
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
    def test_a_field_that_is_wrong(self, listener: Listening, changes: dict[str, Any], field: str) -> None:
        """An attempt with a wrong field is refused by the field's name, and nothing is started."""
        answer = listener.http.post("/execute", json=attempt("bad", **changes))
        assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert answer.headers["content-type"] == "application/problem+json"
        assert listener.http.get("/execute/bad/events").status_code == 404

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 200_000, b'"\xff"', b'{"source": "\\ud800"}'])
    def test_a_body_that_is_no_attempt(self, listener: Listening, body: bytes) -> None:
        """A body that is not a JSON object with an attempt's fields is refused."""
        assert listener.http.post("/execute", content=body).status_code == 422

    def test_half_a_character(self, listener: Listening) -> None:
        """A source with half of a surrogate pair is refused like any other that is no text."""
        body = httpx.Request("POST", listener.address, json=attempt("half", source="@")).content
        answer = listener.http.post("/execute", content=body.replace(b"@", b"\\ud800"))
        assert (answer.status_code, answer.json()["field"]) == (422, "source")

    def test_a_body_that_is_too_large(self, listener: Listening) -> None:
        """A body of more than a mebibyte is not read to its end."""
        assert listener.http.post("/execute", content=b" " * (1 << 20) + b"{}").status_code == 413

    def test_an_id_with_another_attempt(self, listener: Listening) -> None:
        """An id that another attempt has is a conflict, and that attempt keeps its stream."""
        listener.execute("taken")
        assert listener.http.post("/execute", json=attempt("taken", source="x")).status_code == 409
        assert listener.execute("taken")[-1]["status"] == "CHECKED"

    @pytest.mark.parametrize("after", ["-1", "x", "1.5", "99999", "9" * 30])
    def test_lines_that_do_not_exist(self, listener: Listening, after: str) -> None:
        """Asking for what comes after a line that there is not is refused."""
        listener.execute("short")
        answer = listener.http.get("/execute/short/events", params={"after": after})
        assert (answer.status_code, answer.json()["field"]) == (422, "after")

    @pytest.mark.parametrize(("method", "path"), [("GET", "/execute/no/events"), ("DELETE", "/execute/no")])
    def test_an_attempt_that_never_was(self, listener: Listening, method: str, path: str) -> None:
        """An unknown attempt is told apart from a finished one."""
        answer = listener.http.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_ATTEMPT")


class TestHealth:
    """What a listener says of itself."""

    def test_what_it_is(self, listener: Listening) -> None:
        """Health names the version, the toolchain and the GPU that is stood in for."""
        health = listener.http.get("/health").json()
        told = {name: health[name] for name in ("version", "toolchain", "gpu", "simulated", "running")}
        assert told == {
            "version": __version__,
            "toolchain": "cpu",
            "gpu": "MI300X",
            "simulated": True,
            "running": [],
        }

    def test_a_heartbeat(self, listener: Listening) -> None:
        """A heartbeat is remembered from the moment that it came."""
        first = listener.http.post("/heartbeat").json()
        later = listener.http.get("/health").json()
        waited_s = later["uptime_s"] - first["uptime_s"]
        assert later["heartbeat_age_s"] == pytest.approx(first["heartbeat_age_s"] + waited_s)
