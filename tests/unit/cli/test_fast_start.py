"""The fast parser accepts the same options as Typer."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from warmfront.cli import fast_start
from warmfront.cli.app import app, run, xray

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(("name", "function"), [("run", run), ("xray", xray)])
def test_options_and_defaults_match_typer(name: str, function: Callable[..., None]) -> None:
    """Both parsers have the same options with the same defaults."""
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]  # a group has commands
    words = {word for parameter in command.params for word in parameter.opts if word.startswith("-")}
    syntax = fast_start.COMMANDS[name]
    assert {*syntax.values, *syntax.flags} == words - {"--help", "-h"}
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    assert defaults == syntax.defaults


def test_a_local_run_loads_neither_asyncio_nor_rich() -> None:
    """Not loading either one saves 5% of the command's time."""
    modules = "run_local, parallel_xray, terminal_view"
    program = (
        f"from warmfront.cli import {modules}; import warmfront.judge.judge, sys; "
        "print([name for name in ('asyncio', 'ssl', 'rich', 'typer', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_well_formed_call_is_parsed() -> None:
    """Options may precede or follow the file, with a space or an equals sign."""
    words = ["run", "-p", "relu", "k.hip", "--endpoint=checker", "--seed", "7", "--json"]
    call = fast_start.parse(words)
    assert call is not None
    command, parameters = call
    assert command == "run"
    assert parameters["file"] == Path("k.hip")
    assert (parameters["problem"], parameters["endpoint"], parameters["seed"]) == ("relu", "checker", 7)
    assert parameters["as_json"] is True


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["doctor"],
        ["run"],
        ["run", "k.hip"],
        ["run", "k.hip", "--problem"],
        ["run", "k.hip", "--help"],
        ["run", "k.hip", "-p", "relu", "--wat"],
        ["run", "k.hip", "second.hip", "-p", "relu"],
        ["run", "k.hip", "-p", "relu", "--seed", "x"],
        ["run", "k.hip", "-p", "relu", "--seed", "-3"],
        ["run", "k.hip", "-prelu"],
        ["xray"],
        ["xray", "k.hip", "--seed", "7"],
    ],
    ids=" ".join,
)
def test_anything_else_is_left_to_typer(words: list[str]) -> None:
    """Help, mistakes and other commands are left to Typer."""
    assert fast_start.parse(words) is None
