"""The pages on costs and on troubleshooting agree with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import errors, settings

if TYPE_CHECKING:
    from decimal import Decimal

DOCS = Path(__file__).parents[4] / "docs"
OURS = settings.load({}, env_file=None)
BOOT_S, WORK_S, DAY_S = 300, 30, 8 * 3600


def test_costs_per_day_on_the_costs_page() -> None:
    """Each row follows from the rate, the idle timeout and two assumptions."""
    text = (DOCS / "costs.md").read_text()
    assert f"boot of {BOOT_S} s" in text
    assert f"{WORK_S} s of\nwork per submission" in text
    idle_s = int(OURS.idle_timeout_s)
    for tasks in (10, 50, 200):
        gap_s = DAY_S // tasks
        each_s = BOOT_S + WORK_S + idle_s
        through_s = BOOT_S + (tasks - 1) * gap_s + WORK_S + idle_s
        spread_s = tasks * each_s if gap_s > idle_s else through_s
        row_s = BOOT_S + tasks * WORK_S + idle_s
        row = re.search(rf"^\| {tasks} \| {gap_s} s \|(.*)$", text, re.MULTILINE)
        assert row is not None
        shown = re.findall(r"\$(\d+\.\d\d) \| (\d+) days", row[1])
        assert shown == [_shown(spread_s), _shown(row_s)]
        assert f"| {row_s} s |" in row[1]
        assert (f"{tasks} x {each_s} s" if gap_s > idle_s else f"{spread_s} s") in row[1]


def test_costs_per_task_on_the_costs_page() -> None:
    """A cold task with its idle time, the idle time alone, a warm task, and a VM's reservation."""
    text = (DOCS / "costs.md").read_text()
    idle_s = int(OURS.idle_timeout_s)
    for seconds in (BOOT_S + WORK_S + idle_s, idle_s, WORK_S):
        assert re.search(rf"\b{seconds} \| \${_usd(seconds):.2f} \|", text)
    lags = (OURS.provision_timeout_s, OURS.task_timeout_s, OURS.idle_timeout_s, OURS.stop_lag_s)
    worst_s = int(sum(lags))
    assert f"({' + '.join(f'{lag:g}' for lag in lags)}) s = {worst_s} s, ${_usd(worst_s):.2f}" in text
    assert f"a day ${_usd(86400):.2f}" in text
    assert f"10 x {BOOT_S + WORK_S + 60} s, ${_usd(10 * (BOOT_S + WORK_S + 60)):.2f} per day" in text


def test_troubleshooting_page_has_every_dstack_error() -> None:
    """Every error code has a row, and every row is a known code."""
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE))
    known = {error.code: error for error in vars(errors).values() if hasattr(error, "code")}
    kinds = (errors.FleetFailed, errors.FleetNotFound, errors.FleetDiffers, errors.NotConfirmed)
    wanted = {
        code
        for code, error in known.items()
        if issubclass(error, kinds) or error.__name__.startswith("Dstack")
    }
    assert len(wanted) > 11
    assert wanted <= rows
    assert rows <= set(known)


def _usd(seconds: int) -> Decimal:
    return OURS.rate_usd_per_h * seconds / 3600


def _shown(seconds: int) -> tuple[str, str]:
    return f"{_usd(seconds):.2f}", str(int(OURS.credits_usd / _usd(seconds)))
