"""The build of the documentation site finds mistakes: in commands, options, settings, links and policies."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from scripts import finish_docs, generate_reference, stage_docs
from tests.support.services import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("`warmfront run x.hip --problem relu`", None),
        ("`warmfront run x.hip --problme relu`", "`warmfront run` has no option --problme"),
        ("```sh\nwarmfront keys create --user me | cat --number\n```", None),
        ("```sh\nwarmfront \\\n  keys create --usr me\n```", "`warmfront keys create` has no option --usr"),
        ("`.venv/bin/warmfront keys destroy`", "there is no command `warmfront keys destroy`"),
        ("`warmfront serv`", "there is no command `warmfront serv`"),
        ("`make serve` and `make srve`", "the Makefile has no target srve"),
        ("WARMFRONT_PORT and WARMFRONT_PROT", "there is no setting WARMFRONT_PROT"),
    ],
)
def test_unknown_commands_options_and_settings_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mistake: str | None
) -> None:
    """Each is reported with the name of the page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(text)
    for name in ("README.md", "CONTRIBUTING.md"):
        (tmp_path / name).touch()
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    monkeypatch.setattr(stage_docs, "ROOT", tmp_path)
    monkeypatch.setattr(stage_docs, "DOCS", tmp_path / "docs")
    assert list(stage_docs.mistakes()) == ([] if mistake is None else [f"docs/page.md: {mistake}"])


def test_the_pages_have_no_such_mistakes() -> None:
    """`make check` makes the same check."""
    assert list(stage_docs.mistakes()) == []


def test_the_reference_is_complete() -> None:
    """Every route, command, setting and exported class has its entry."""
    document = generate_reference.openapi_document()
    api = generate_reference.http_api(document)
    for path, methods in document["paths"].items():
        assert all(f"### `{method.upper()} {path}`" in api for method in methods)
    commands = generate_reference.command_line(generate_reference.root_command())
    assert "## warmfront keys create" in commands
    assert "`--user`" in commands
    assert "| `WARMFRONT_PORT` | `3000` |" in generate_reference.all_settings()
    sdk = generate_reference.python_sdk()
    assert "### AsyncClient.submit" in sdk
    assert "Retry(*, attempts: int = " in sdk
    assert "| `finished_at` | `float \\| None` |" in sdk
    assert "object at 0x" not in sdk
    assert "<function" not in sdk


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<script src="a.js"></script><script type="application/json">{}</script>', None),
        ("<script async>run()</script>", "an inline script"),
        ('<td style="color: red">', "an inline style"),
        ('<a onclick="run()">', "an inline event handler"),
        ('<link rel="stylesheet" href="https://fonts.example/css">', "a file of another site"),
    ],
)
def test_what_the_policy_would_block_is_found(tmp_path: Path, html: str, problem: str | None) -> None:
    """The build fails rather than serving a page that does not work."""
    (tmp_path / "index.html").write_text(html)
    found = [line.partition(" has ")[2].partition(":")[0] for line in finish_docs.blocked(tmp_path)]
    assert found == ([] if problem is None else [problem])


def test_inline_scripts_are_moved_to_files(tmp_path: Path) -> None:
    """The same script of several pages is one file, with a relative address."""
    (tmp_path / "assets/javascripts").mkdir(parents=True)
    (tmp_path / "judge").mkdir()
    for page in ("index.html", "judge/index.html"):
        (tmp_path / page).write_text("<script>run()</script>")
    finish_docs.finish(tmp_path)
    (script,) = tmp_path.glob("assets/javascripts/inline.*.js")
    assert script.read_text() == "run()"
    address = f"assets/javascripts/{script.name}"
    assert (tmp_path / "index.html").read_text() == f'<script src="{address}"></script>'
    assert (tmp_path / "judge/index.html").read_text() == f'<script src="../{address}"></script>'


@pytest.mark.skipif(
    not (ROOT / ".venv-docs/bin/mkdocs").exists(),
    reason="`make docs` installs MkDocs, and `make test` runs it",
)
@pytest.mark.parametrize("link", ["nothing.md", "glossary.md#nothing", "../nothing.txt"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    """MkDocs reports a page, an anchor or a file that does not exist, and fails in strict mode."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(f"# Home\n\n[link]({link})\n")
    (tmp_path / "docs/glossary.md").write_text("# Glossary\n")
    text = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[0].replace("build/docs", "docs")
    (tmp_path / "mkdocs.yml").write_text(text)
    done = subprocess.run(
        [ROOT / ".venv-docs/bin/mkdocs", "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"WARNING -  Doc file 'index.md' contains a link '{link}'" in done.stderr
