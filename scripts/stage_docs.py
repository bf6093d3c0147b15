"""Collect the sources of the documentation site, and check what they say about commands and settings.

Usage: python -m scripts.stage_docs DIRECTORY

The pages in `docs/` can be read on their own, so some of them link to files outside of that directory: a
Markdown file becomes a page of the site, and any other file is copied to it. The reference is generated from
the code. This fails if a page names a command, an option, a setting or a target of make that does not exist.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import generate_reference
from warmfront import errors, setting_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: Where files outside of docs/ are on the site.
_PAGES, _FILES = "project", "files"

_LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
_CODE = re.compile(r"^```(?:sh|bash|console)?\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"(?:^|[\s/$(])warmfront((?: +[^\s|;&>)#`]+)+)")
_OPTION = re.compile(r"--?[a-z][a-z-]*")
_VARIABLE = re.compile(r"\b(?:WARMFRONT|AMD|DSTACK)_[A-Z0-9_]+\b")
_MAKE = re.compile(r"(?:^|\s)make ([a-z][a-z-]*)")
#: Variables that are not settings of the service.
_OTHER_VARIABLES = {
    *("WARMFRONT_URL", "WARMFRONT_API_KEY", "WARMFRONT_PROBLEMS", "WARMFRONT_LISTENER_TOKEN"),
    *("WARMFRONT_TEST_REQUIRE_ALL", "DSTACK_BACKEND", "DSTACK_SERVER_ADMIN_TOKEN", "DSTACK_DIGEST"),
    *("DSTACK_RUNNER_DOWNLOAD_URL", "DSTACK_SHIM_DOWNLOAD_URL"),
}


def stage(target: Path) -> None:
    """Write all sources of the site into the directory."""
    shutil.rmtree(target, ignore_errors=True)
    staging = _Staging(target)
    for path in sorted(DOCS.rglob("*")):
        if path.is_file():
            staging.add(path)
    shutil.copyfile(ROOT / "frontend" / "src" / "icon.svg", target / "icon.svg")
    generate_reference.write(target / "reference")


class _Staging:
    """The files that are copied, with links changed to where the files are on the site."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._added: set[Path] = set()

    def add(self, path: Path) -> None:
        """Copy a file or directory, and everything that a page links to."""
        if path in self._added:
            return
        self._added.add(path)
        place = self._target / self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            place.write_text(self._listing(path), "utf-8")
        elif path.suffix == ".md":
            place.write_text(_LINK.sub(lambda link: self._link(path, link), path.read_text("utf-8")), "utf-8")
        else:
            shutil.copyfile(path, place)

    def _place(self, path: Path) -> Path:
        """Return where a file is on the site."""
        if path.is_relative_to(DOCS):
            return path.relative_to(DOCS)
        place = path.relative_to(ROOT)
        if path.is_dir():
            return _FILES / place / "index.md"
        # MkDocs leaves out files whose names begin with a dot. A module in the package would be code.
        name = f"{place.name.lstrip('.')}{'.txt' if path.suffix == '.py' else ''}"
        return (_PAGES if path.suffix == ".md" else _FILES) / place.with_name(name)

    def _link(self, page: Path, link: re.Match[str]) -> str:
        """Return a link with its address on the site. A link to nothing is left for MkDocs to report."""
        before, address, anchor, after = link[1], link[2], link[3] or "", link[4]
        path = (page.parent / address).resolve()
        if "://" in address or not path.exists() or not path.is_relative_to(ROOT):
            return link[0]
        self.add(path)
        depth = len(self._place(page).parts) - 1
        return f"{before}{'../' * depth}{self._place(path).as_posix()}{anchor}{after}"

    def _listing(self, directory: Path) -> str:
        """Return a page with links to the files of a directory."""
        files = sorted(path for path in directory.iterdir() if path.is_file())
        for path in files:
            self.add(path)
        lines = [f"- [`{path.name}`]({self._place(path).name})" for path in files]
        return f"# {directory.relative_to(ROOT)}\n\n" + "\n".join(lines) + "\n"


def mistakes() -> Iterator[str]:
    """Yield the mentions of commands, options, settings and make targets that do not exist."""
    commands = {
        name: _options(command)
        for name, command in generate_reference.walk(generate_reference.root_command())
    }
    groups = {name.rpartition(" ")[0] for name in commands}
    codes = {getattr(error, "code", "") for error in vars(errors).values()}
    names = {variable for variable, _, _ in setting_variables.VARIABLES.values()} | {
        *setting_variables.FORMER_VARIABLES
    }
    variables = names | _OTHER_VARIABLES | codes
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text("utf-8")
        where = path.relative_to(ROOT)
        for block, inline in _CODE.findall(text):
            code = (block or inline).replace("\\\n", " ")
            for call in _CALL.findall(code):
                yield from (f"{where}: {mistake}" for mistake in _wrong_call(call.split(), commands, groups))
            for target in _MAKE.findall(code):
                if target not in targets:
                    yield f"{where}: the Makefile has no target {target}"
        for variable in sorted(set(_VARIABLE.findall(text)) - variables):
            if not any(known.startswith(variable) for known in variables):
                yield f"{where}: there is no setting {variable}"


def _options(command: generate_reference.Command) -> set[str]:
    names = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    return names | {"--help", "-h"}


def _wrong_call(words: list[str], commands: dict[str, set[str]], groups: set[str]) -> Iterator[str]:
    """Yield what is wrong with the words after `warmfront` in an example of a command."""
    name = "warmfront"
    while name in groups and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        name = f"{name} {words.pop(0)}"
        if name not in commands and name not in groups:
            yield f"there is no command `{name}`"
            return
    for word in words:
        option = word.partition("=")[0]
        if name in commands and _OPTION.fullmatch(option) and option not in commands[name]:
            yield f"`{name}` has no option {option}"


def main() -> int:
    """Check and write the sources; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    found = sorted(set(mistakes()))
    for mistake in found:
        print(f"docs: {mistake}", file=sys.stderr)
    if not found:
        stage(arguments.directory)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
