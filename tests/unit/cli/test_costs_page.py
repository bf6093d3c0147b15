"""docs/costs.md: its table and pictures are what its command makes, and its commands run."""

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


def test_the_first_row_comes_out_again() -> None:
    """The row of ten tasks a day with the fixed timer is what a replay gives today."""
    assert costs.row(10.0, "fixed") in TEXT


@pytest.mark.slow
def test_the_page_is_what_its_command_makes() -> None:
    """The whole table and both pictures come out again, to the last byte."""
    assert f"{costs.BEGIN}\n{costs.table()}\n{costs.END}" in TEXT
    policies, day = costs.pictures()
    assert costs.POLICIES_PICTURE.read_text() == policies
    assert costs.DAY_PICTURE.read_text() == day


@pytest.mark.parametrize("path", [costs.POLICIES_PICTURE, costs.DAY_PICTURE], ids=lambda path: str(path.name))
def test_pictures_are_shown_and_readable_on_any_page(path: Path) -> None:
    """Each is on the page with words for who cannot see it, and has colours for a dark one."""
    assert re.search(rf"!\[[^\]]{{40,}}\]\({path.name}\)", TEXT)
    text = path.read_text()
    assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - we wrote it
    assert "prefers-color-scheme: dark" in text


def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the block runs as it stands."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.strip().splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "warmfront"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "costs.svg").exists()
    assert (tmp_path / "day.svg").exists()
