"""docs/costs.md: its table and charts are up to date, and its commands work."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from bench import costs
from warmfront.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

TEXT = costs.PAGE.read_text()


def test_the_first_row_is_up_to_date() -> None:
    """A replay of ten submissions per day with the fixed policy gives the row on the page."""
    assert costs.row(10.0, "fixed") in TEXT


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    """Generating the table and both charts again gives the same bytes."""
    assert f"{costs.BEGIN}\n{costs.table()}\n{costs.END}" in TEXT
    policies, day = costs.draw_charts()
    assert costs.POLICIES_CHART.read_text() == policies
    assert costs.DAY_CHART.read_text() == day


@pytest.mark.parametrize("path", [costs.POLICIES_CHART, costs.DAY_CHART], ids=lambda path: str(path.name))
def test_charts_have_alternative_text_and_dark_colors(path: Path) -> None:
    """Each chart has alternative text on the page, and colors for dark mode."""
    assert re.search(rf"!\[[^\]]{{40,}}\]\({path.name}\)", TEXT)
    text = path.read_text()
    assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - we wrote it
    assert "prefers-color-scheme: dark" in text


def test_the_commands_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command on the page succeeds."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.strip().splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "warmfront"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "costs.svg").exists()
    assert (tmp_path / "day.svg").exists()
