"""Hints belong to an audience: the command line names commands, the HTTP API names routes and headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront import errors
from warmfront.api.hints import api_hint
from warmfront.cli.hints import cli_hint

if TYPE_CHECKING:
    from pathlib import Path


def test_the_command_line_names_a_command() -> None:
    """At the command line the hint names the command that lists submissions."""
    assert "warmfront ps" in cli_hint(errors.SubmissionNotFound("sub_1"))


@pytest.mark.parametrize(
    "error",
    [
        errors.SubmissionNotFound("sub_1"),
        errors.VMNotFound("vm_1"),
        errors.UnknownProblem(),
        errors.NotAuthenticated(),
    ],
)
def test_an_http_client_is_never_sent_to_the_command_line(error: errors.WarmfrontError) -> None:
    """The API's hint for an error names a route or a header instead of a command."""
    hint = api_hint(error)
    assert "warmfront " not in hint
    assert "/api/amd/" in hint or "Authorization" in hint


def test_a_subclass_inherits_the_hint_of_its_nearest_ancestor() -> None:
    """A table needs one entry per family of errors."""
    hints: dict[type[errors.WarmfrontError], str] = {errors.NotFound: "nearest", errors.UsageError: "farther"}
    assert errors.hint_for(errors.VMNotFound("vm_1"), hints) == "nearest"


@pytest.mark.parametrize(("hint", "expected"), [("Set PORT.", "Set PORT."), (None, "")])
def test_an_error_without_an_entry_keeps_its_own_hint(hint: str | None, expected: str) -> None:
    """Advice that helps every audience comes from the code that raised the error."""
    error = errors.BadSetting("PORT is 'x'.", hint=hint)
    assert cli_hint(error) == api_hint(error) == expected


def test_hints_name_the_command_as_it_was_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a checkout `warmfront` is not in PATH: the hint has the path that was typed."""
    command = tmp_path / "warmfront"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(command), "fleet", "list"])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    error = errors.FleetNotFound("There is no fleet.", hint="Create it with `warmfront fleet create`.")
    assert cli_hint(error) == f"Create it with `{command} fleet create`."
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli_hint(error) == "Create it with `warmfront fleet create`."
