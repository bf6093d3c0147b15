"""Measure the page in Chromium: size, time to interactive, dropped frames, latency of typing and clicks.

Time and frames are compared with an empty page in the same browser, and typing with the same X-ray without
the page, so that load affects both equally.
`python -m bench.page serve DIRECTORY` runs the service that streams the samples.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import expect

from bench.page_data import SAMPLED_ID, write_data
from bench.timing import medians_s, print_bars
from bench.trivial import TrivialListeners, serve
from tests.browser.browser_window import DESKTOP, chromium
from tests.support.services import EXAMPLE, REHEARSAL, serving
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from playwright.sync_api import Browser, Page

    from warmfront.orchestrator import VMInstance

ROUNDS = 9
GOAL_KB = 300
CASES = 20
SAMPLES = 100
#: The pause between two cases, so that 2,000 samples take two seconds.
PAUSE_S = 0.1
#: Keys typed, fewer than the X-rays that the page requests per minute.
KEYS = 20
CLICKS = 15
SUBMISSIONS = 10_000
MANY_SAMPLES = 100_000
ZOOMS = 60
#: The duration of a frame at 60 Hz.
FRAME_MS = 1000 / 60

_EMPTY = b"<!doctype html><html lang=en><title>Empty</title>"

#: Records the time between frames until `frames_ms` is called.
_COUNT = """() => {
    const gaps = [];
    let last = performance.now();
    const next = (now) => {
        gaps.push(now - last);
        last = now;
        if (!window.stopped) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    window.frames_ms = () => { window.stopped = true; return gaps; };
}"""
#: Call `act`, wait until another table of submissions is painted, and return the elapsed time.
_ACT = """(act) => new Promise((resolve) => {
    const [start, before] = [performance.now(), document.querySelector("tbody")];
    const observer = new MutationObserver(() => {
        const now = document.querySelector("tbody tr")?.parentElement;
        if (!now || now === before) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    });
    observer.observe(document.body, {childList: true, subtree: true});
    act();
})"""
_CLICK = f"""(name) => ({_ACT})(() => {{
    [...document.querySelectorAll("button")].find((button) => button.textContent.trim() === name).click();
}})"""
_FILTER = f"""(verdict) => ({_ACT})(() => {{
    const options = [...document.querySelectorAll("select option")];
    const list = options.find((option) => option.value === verdict).parentElement;
    list.value = verdict;
    list.dispatchEvent(new Event("change", {{bubbles: true}}));
}})"""
#: Resolves when the browser is idle.
_IDLE = "() => new Promise((resolve) => requestIdleCallback(() => resolve(true)))"


class SamplingListeners(TrivialListeners):
    """Listeners that time twenty cases with a hundred samples each."""

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Yield every event of a benchmark."""
        del vm, attempt
        for seq, fields in enumerate(_benchmark(), 1):
            await asyncio.sleep(PAUSE_S)
            yield AttemptEvent(seq=seq, fields=fields)


def _benchmark() -> Iterator[dict[str, Any]]:
    rng = random.Random(1)  # noqa: S311 - the same samples every time
    case = {"test_id": 1, "name": "n = 1", "status": "PASSED"}
    timings = [_timing(number, rng) for number in range(1, CASES + 1)]
    yield {"status": "COMPILING", "compiler": "none", "toolchain": "cpu", "sandbox": "none"}
    yield {"status": "CHECKING", "total_tests": 1, "compile_s": 0.1}
    yield {"status": "TEST_RESULT", "result": case, "total_tests": 1}
    yield {
        "status": "CHECKED",
        "test_results": [case],
        "passed_tests": 1,
        "total_tests": 1,
        "simulated": True,
    }
    yield {"status": "BENCHMARKING", "total_tests": CASES}
    for timing in timings:
        yield {"status": "BENCHMARK_RESULT", "result": timing, "total_tests": CASES, "simulated": True}
    last = {"status": "BENCHMARKED", "test_results": timings, "avg_runtime_ms": 1.0, "avg_gflops": 1.0}
    yield {**last, "simulated": True, "output": "", "target": "", "warnings": [], "bug_finder": ""}


def _timing(number: int, rng: random.Random) -> dict[str, Any]:
    runs = [rng.lognormvariate(0, 0.02) for _ in range(SAMPLES)]
    ms = statistics.median(runs)
    figures = {"gflops": 1.0 / ms, "gbps": 8.0 / ms, "outer_ms": ms, "pct_of_floor": None, "note": ""}
    ci = [ms * 0.998, ms * 1.002]
    return {"test_id": number, "name": f"case {number}", "runtime_ms": ms, "ci": ci, "runs": runs, **figures}


@contextlib.contextmanager
def streaming() -> Iterator[str]:
    """Run a service whose benchmarks are those of `SamplingListeners`, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.page", "serve", folder], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def empty_page() -> Iterator[str]:
    """Serve an empty page and yield its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            with contextlib.suppress(
                ConnectionError
            ):  # the browser closed the connection after requesting an icon
                self.wfile.write(_EMPTY)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@contextlib.contextmanager
def fresh(browser: Browser) -> Iterator[Page]:
    """Open a page with an empty cache."""
    context = browser.new_context(viewport=DESKTOP)
    yield context.new_page()
    context.close()


def first_view(browser: Browser, url: str) -> None:
    """Print the transferred bytes of the first view, by kind."""
    sizes: dict[str, int] = {}
    with fresh(browser) as page:
        page.goto(url, wait_until="networkidle")
        entries = page.evaluate(
            "JSON.stringify([...performance.getEntriesByType('navigation'), "
            "...performance.getEntriesByType('resource')].map((each) => [each.name, each.encodedBodySize]))"
        )
    for address, size in json.loads(entries):
        name = "data" if "/api/" in address else Path(urlsplit(address).path).suffix.lstrip(".") or "html"
        sizes[name] = sizes.get(name, 0) + size
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"  {name:6} {size / 1000:8.1f} kB")
    total_kb = sum(sizes.values()) / 1000
    print(f"  first view, compressed: {total_kb:.1f} kB (goal: under {GOAL_KB} kB)")


def interactive(browser: Browser, url: str, nothing: str) -> None:
    """Measure the time until the first view is drawn and idle, alternating with an empty page."""

    def ours() -> None:
        with fresh(browser) as page:
            page.goto(url)
            expect(page.get_by_role("link", name="Leaky ReLU").first).to_be_visible()
            page.evaluate(_IDLE)

    def theirs() -> None:
        with fresh(browser) as page:
            page.goto(nothing)
            page.evaluate(_IDLE)

    seconds = medians_s({"first view": ours, "empty page": theirs}, ROUNDS)
    print_bars(seconds)
    ratio = seconds["first view"] / seconds["empty page"]
    print(f"  time to interactive relative to an empty page: {ratio:.2f}")


def frames(browser: Browser, url: str, nothing: str) -> None:
    """Count the frames dropped while the samples are streamed."""
    with fresh(browser) as page:
        page.goto(f"{url}/problems/leaky-relu")
        expect(page.locator(".cm-content")).to_contain_text("solution")
        page.get_by_role("button", name=re.compile("^Benchmark")).click()
        page.evaluate(_COUNT)
        expect(page.get_by_test_id("run-status")).to_have_attribute("data-status", "BENCHMARKED")
        streamed: list[float] = page.evaluate("window.frames_ms()")
    _print_frames({"2,000 samples": streamed, "empty page": _idle_frames(browser, nothing, sum(streamed))})


def _idle_frames(browser: Browser, nothing: str, duration_ms: float) -> list[float]:
    """Return the times between frames of an empty page, in ms."""
    with fresh(browser) as page:
        page.goto(nothing)
        page.evaluate(_COUNT)
        page.evaluate(f"() => new Promise((resolve) => setTimeout(resolve, {duration_ms}))")
        gaps: list[float] = page.evaluate("window.frames_ms()")
    return gaps


def _print_frames(measured: Mapping[str, list[float]]) -> None:
    for name, gaps in measured.items():
        due, missed = sum(gaps) / FRAME_MS, sum(max(0, round(gap / FRAME_MS) - 1) for gap in gaps)
        print(f"  {name:14} {missed:5.0f} of {due:5.0f} frames dropped, the longest took {max(gaps):.0f} ms")


def typing(browser: Browser, url: str) -> None:
    """Measure the time from a key to the diagnostics of the new text, alternating with bare X-rays."""
    page_s, bare_s = [], []
    with fresh(browser) as page, httpx.Client(base_url=url, timeout=120) as client:
        page.goto(f"{url}/problems/leaky-relu")
        editor, status = page.locator(".cm-content"), page.get_by_test_id("status-line")
        editor.press("ControlOrMeta+a")
        page.keyboard.insert_text(EXAMPLE + "// ")
        expect(status).to_have_attribute("data-state", "current")
        for number in range(KEYS):
            key = "0123456789"[number % 10]
            start = time.perf_counter()
            page.keyboard.type(key)
            expect(status).not_to_have_attribute("data-state", "current")
            expect(status).to_have_attribute("data-state", "current")
            page_s.append(time.perf_counter() - start)
            start = time.perf_counter()  # another text of the same length, which is not in the cache
            client.post(
                "/api/amd/xray", json={"solution_code": f"{EXAMPLE}// {number:05}x"}
            ).raise_for_status()
            bare_s.append(time.perf_counter() - start)
    for name, seconds in (("key to diagnostics", page_s), ("bare X-ray", bare_s)):
        print(f"  {name:18} p50 {_quantile(seconds, 0.5):.0f} ms, p95 {_quantile(seconds, 0.95):.0f} ms")
    added = [_quantile(page_s, share) - _quantile(bare_s, share) for share in (0.5, 0.95)]
    print(
        f"  the page adds p50 {added[0]:.0f} ms, p95 {added[1]:.0f} ms; the pause in typing is 400 ms of it"
    )


def _quantile(seconds: list[float], share: float) -> float:
    """Return a quantile in milliseconds."""
    return 1000 * sorted(seconds)[min(len(seconds) - 1, round(share * (len(seconds) - 1)))]


def history(browser: Browser, url: str) -> None:
    """Measure the time from a click in the list of submissions to the next frame with its result."""
    latencies: dict[str, list[float]] = {"filter by verdict": [], "older page": [], "newest page": []}
    with fresh(browser) as page:
        page.goto(f"{url}/submissions")
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(25)
        for number in range(CLICKS):
            verdict = ("WRONG_ANSWER", "COMPILE_ERROR")[number % 2]
            latencies["filter by verdict"].append(page.evaluate(_FILTER, verdict))
            latencies["older page"].append(page.evaluate(_CLICK, "Older"))
            latencies["newest page"].append(page.evaluate(_CLICK, "Newest"))
    for name, ms in latencies.items():
        seconds = [each / 1000 for each in ms]
        figures = f"p50 {_quantile(seconds, 0.5):.0f} ms, p95 {_quantile(seconds, 0.95):.0f} ms"
        print(f"  {SUBMISSIONS:,} submissions, {name:18} {figures}")


def zooming(browser: Browser, url: str, nothing: str) -> None:
    """Count the frames dropped while a chart of many samples is zoomed in and out."""
    with fresh(browser) as page:
        page.goto(f"{url}/submissions/{SAMPLED_ID}")
        page.get_by_text("In order of measurement").click()
        crosshair = page.get_by_role("slider", name="Crosshair of samples of n = 1")
        crosshair.focus()
        page.keyboard.press("End")
        expect(crosshair).to_have_attribute("aria-valuenow", str(MANY_SAMPLES - 1))
        page.evaluate(_COUNT)
        for number in range(ZOOMS):
            page.keyboard.press(f"{'+' if number % 12 < 11 else '0'}")
            page.keyboard.press("Home" if number % 2 else "End")
        page.evaluate(_IDLE)
        zoomed: list[float] = page.evaluate("window.frames_ms()")
    idle = _idle_frames(browser, nothing, sum(zoomed))
    _print_frames({f"zoom, {MANY_SAMPLES:,}": zoomed, "empty page": idle})
    print(f"  {ZOOMS} zooms in {sum(zoomed) / 1000:.1f} s")


def main() -> None:
    """Run all measurements."""
    with streaming() as url, empty_page() as nothing, chromium() as browser:
        first_view(browser, url)
        interactive(browser, url, nothing)
        frames(browser, url, nothing)
    with tempfile.TemporaryDirectory() as folder, empty_page() as nothing, chromium() as browser:
        write_data(Path(folder), submissions=SUBMISSIONS, samples=MANY_SAMPLES)
        with serving(Path(folder), **REHEARSAL) as service:
            typing(browser, service.url)
            history(browser, service.url)
            zooming(browser, service.url, nothing)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(Path(sys.argv[2]), slots=1, listeners=SamplingListeners(events=0, pause_s=0.0)))
    else:
        main()
