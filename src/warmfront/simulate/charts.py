"""SVG charts of a comparison: the cost of each row, and the activity of its VMs on one day.

The charts work on light and dark pages, need neither fonts nor scripts, and are byte-for-byte reproducible.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from warmfront.simulate.comparison import BEST
from warmfront.store.records import Meter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warmfront.simulate.comparison import ComparisonRow, Conditions

_WIDTH = 900
_LABELS = 150  # width of the names on the left
_NOTES = 272  # width of the figures on the right
_BAR, _GAP, _TOP = 22, 12, 74

_STYLE = """<style>
text { fill: #1f2328; font: 14px system-ui, sans-serif; }
.title { font-weight: 600; font-size: 16px; }
.small { fill: #57606a; font-size: 12px; }
.axis { stroke: #8c959f; stroke-width: 1; }
.usd, .work { fill: #bc4c00; }
.wait { fill: #6e9fd4; }
.idle { fill: #f2c28f; }
.boot { fill: #8c959f; }
.tick { stroke: #1f2328; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .usd, .work { fill: #f0883e; }
  .wait { fill: #4878ad; }
  .idle { fill: #7d4e24; }
  .boot { fill: #656c76; }
  .tick { stroke: #e6edf3; }
}
</style>"""


def cost_chart(rows: Sequence[ComparisonRow], title: str, note: str) -> str:
    """Return a bar chart of the cost of VMs and the cost of waiting, one bar per row."""
    top = max((row.cost_usd for row in rows), default=0.0) or 1.0
    scale = (_WIDTH - _LABELS - _NOTES) / top
    names = labels(rows)
    parts = [
        *_heading(title, note),
        *_legend([("usd", "cost of VMs"), ("wait", "value of waiting")]),
    ]
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = _TOP + number * (_BAR + _GAP)
        usd, wait = float(row.usd) * scale, row.wait_usd * scale
        over = (
            "" if row.over_best is None or row.policy == BEST else f" · {row.over_best:.2f} times the optimum"
        )
        figure = f"${row.usd:,.2f} + ${row.wait_usd:,.2f}{over}"
        parts += [
            _text(_LABELS - 8, y + 16, name, anchor="end"),
            _rect("usd", _LABELS, y, usd, _BAR),
            _rect("wait", _LABELS + usd, y, wait, _BAR),
            _text(_LABELS + usd + wait + 6, y + 16, figure, css="small"),
        ]
    return _svg(parts, _TOP + len(rows) * (_BAR + _GAP), f"{title}. {note}")


def timeline_chart(
    rows: Sequence[ComparisonRow], arrivals_s: Sequence[float], shown_s: tuple[float, float], title: str
) -> str:
    """Return a timeline of the arrivals and the activity of each row's VMs in the interval `shown_s`."""
    begin_s, end_s = shown_s
    drawn = [row for row in rows if row.result is not None]
    scale = (_WIDTH - _LABELS - 20) / (end_s - begin_s)

    def x(at_s: float) -> float:
        return _LABELS + (min(max(at_s, begin_s), end_s) - begin_s) * scale

    legend = [("boot", "provisioning"), ("work", "busy"), ("idle", "kept warm")]
    parts = [*_heading(title, "Each mark is the arrival of a submission."), *_legend(legend)]
    parts.append(_text(_LABELS - 8, _TOP + 16, "arrivals", anchor="end"))
    parts += [
        f'<path class="tick" d="M{x(at_s):.1f} {_TOP + 2}v{_BAR - 4}"/>'
        for at_s in arrivals_s
        if begin_s <= at_s < end_s
    ]
    names = labels(drawn)
    for number, (row, name) in enumerate(zip(drawn, names, strict=True), 1):
        y = _TOP + number * (_BAR + _GAP)
        parts.append(_text(_LABELS - 8, y + 16, name, anchor="end"))
        assert row.result is not None  # noqa: S101 - filtered above
        for interval in row.result.intervals:
            left, right = x(interval.began_s), x(interval.ended_s)
            parts.append(_rect(_METERS[interval.meter], left, y, max(right - left, 0.6), _BAR))
    bottom = _TOP + (len(drawn) + 1) * (_BAR + _GAP)
    parts += _hours(begin_s, end_s, bottom, x(begin_s), x(end_s))
    return _svg(parts, bottom + 24, title)


_METERS = {Meter.PROVISIONING: "boot", Meter.WORK: "work", Meter.IDLE: "idle"}


def labels(rows: Iterable[ComparisonRow]) -> list[str]:
    """Return the policy of each row, with the conditions that differ between rows."""
    rows = list(rows)
    all_labels = [_condition_labels(row.conditions) for row in rows]
    varying = [index for index, column in enumerate(zip(*all_labels, strict=True)) if len(set(column)) > 1]
    return [
        ", ".join([row.policy, *(row_labels[index] for index in varying)])
        for row, row_labels in zip(rows, all_labels, strict=True)
    ]


def _condition_labels(conditions: Conditions) -> tuple[str, ...]:
    return (
        f"{conditions.max_vms} VM{'s' if conditions.max_vms > 1 else ''}",
        f"boot {conditions.boot_s:.0f} s",
        f"${conditions.billing.rate_usd_per_h}/h",
        f"billed per {conditions.billing_name}",
    )


def _hours(begin_s: float, end_s: float, y: float, left: float, right: float) -> list[str]:
    parts = [f'<path class="axis" d="M{left:.1f} {y}H{right:.1f}"/>']
    for quarter in range(5):
        at = left + (right - left) * quarter / 4
        hour = ((begin_s + (end_s - begin_s) * quarter / 4) / 3600) % 24
        hour = 24 if quarter == 4 and hour == 0 else hour
        parts.append(_text(at, y + 16, f"{hour:02.0f}:00", css="small", anchor="middle"))
    return parts


def _heading(title: str, note: str) -> list[str]:
    return [_text(0, 18, title, css="title"), _text(0, 38, note, css="small")]


def _legend(entries: Iterable[tuple[str, str]]) -> list[str]:
    parts, left = [], float(_LABELS)
    for css, label in entries:
        parts += [_rect(css, left, 48, 12, 12), _text(left + 18, 59, label, css="small")]
        left += 40 + 7 * len(label)
    return parts


def _rect(css: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{css}" x="{x:.1f}" y="{y}" width="{max(0.0, width):.1f}" height="{height}"/>'


def _text(x: float, y: float, text: str, *, css: str = "", anchor: str = "start") -> str:
    css_class = f' class="{css}"' if css else ""
    return f'<text{css_class} x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Iterable[str], height: float, label: str) -> str:
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -4 {_WIDTH + 24} {height + 12:.0f}" '
        f'role="img" aria-label="{escape(label)}">'
    )
    return "\n".join([opening, _STYLE, *parts, "</svg>", ""])
