"""Registry of problems: the modules of this package, and the operator's files in WARMFRONT_PROBLEMS.

The problem `leaky-relu` is in `leaky_relu.py`, so getting one problem imports only its module. Files in
WARMFRONT_PROBLEMS are trusted code; a problem file that comes with a submission is never loaded here.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import BadProblemFile, BadSetting, UnknownProblem
from warmfront.problems.spec import Problem, check_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

#: The environment variable with directories of additional problems, separated as in PATH.
DIRECTORIES_VARIABLE = "WARMFRONT_PROBLEMS"

_PACKAGE = Path(__file__).parent

#: Modules of this package that do not define a problem.
_SUPPORT_MODULES = frozenset(
    {"chunks", "draws", "own_cases", "ranges", "registry", "revision", "rounding", "spec"}
)

_HINT = "docs/writing-a-problem.md shows a complete file"


def get(name: str) -> Problem:
    """Return the problem with this slug or alias.

    Raises:
        UnknownProblem: There is no such problem; the message suggests similar names.
        BadProblemFile: The file of the problem does not define a valid problem.
    """
    files = _files_by_slug()
    if name in files:
        return load(files[name])
    problems = _load_all(files)
    for problem in problems:
        if name in problem.aliases:
            return problem
    known = [known_name for p in problems for known_name in (p.slug, *p.aliases)]
    raise UnknownProblem(f"There is no problem called {name!r}.{_did_you_mean(name, known)}")


def all_problems() -> list[Problem]:
    """Return every problem, sorted by slug."""
    return _load_all(_files_by_slug())


def operator_files() -> list[Path]:
    """Return the files of the operator's problems, to copy them to VMs, without importing them."""
    return [path for directory in _operator_directories() for path in _problem_files(directory)]


def load(path: Path) -> Problem:
    """Import a file, validate the one problem that it defines and return it."""
    try:
        problem = _only_problem_class(_import(path))()
        check_problem(problem, slug=path.stem.replace("_", "-"))
    except BadProblemFile as error:
        raise BadProblemFile(f"{path}: {error.message}", hint=_HINT) from None
    except Exception as error:
        # An operator's file can raise anything; the error names the file and the reason.
        raise BadProblemFile(f"{path}: {type(error).__name__}: {error}", hint=_HINT) from error
    return problem


def _did_you_mean(name: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only misspelt names need it

    nearest = get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(nearest)}?" if nearest else ""


def _files_by_slug() -> Mapping[str, Path]:
    """Return the file of each problem by slug, built-in problems first, without importing them."""
    files: dict[str, Path] = {}
    for directory in (_PACKAGE, *_operator_directories()):
        for path in _problem_files(directory):
            slug = path.stem.replace("_", "-")
            if slug in files:
                raise BadProblemFile(f"{path}: {slug!r} is already defined by {files[slug]}", hint=_HINT)
            files[slug] = path
    return files


def _operator_directories() -> Iterator[Path]:
    for entry in os.environ.get(DIRECTORIES_VARIABLE, "").split(os.pathsep):
        if not entry:
            continue
        directory = Path(entry)
        if not directory.is_dir():
            raise BadSetting(
                f"{DIRECTORIES_VARIABLE} names {entry!r}, which is not a directory.",
                hint=f"Set it to directories, separated by {os.pathsep!r}.",
            )
        yield directory


def _problem_files(directory: Path) -> list[Path]:
    skipped = _SUPPORT_MODULES if directory == _PACKAGE else frozenset[str]()
    names = sorted(path for path in directory.glob("*.py") if not path.name.startswith("_"))
    return [path for path in names if path.stem not in skipped]


def _load_all(files: Mapping[str, Path]) -> list[Problem]:
    problems = [load(path) for path in files.values()]
    _reject_shared_names(problems, files)
    return sorted(problems, key=lambda problem: problem.slug)


def _reject_shared_names(problems: list[Problem], files: Mapping[str, Path]) -> None:
    owners = {problem.slug: problem for problem in problems}
    for problem in problems:
        for alias in problem.aliases:
            owner = owners.setdefault(alias, problem)
            if owner is not problem:
                raise BadProblemFile(
                    f"{files[problem.slug]}: the alias {alias!r} already names {owner.slug!r}", hint=_HINT
                )


def _import(path: Path) -> ModuleType:
    if path.parent == _PACKAGE:
        return importlib.import_module(f"warmfront.problems.{path.stem}")
    name = f"warmfront_problems_of_operator.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadProblemFile("Python cannot import it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _only_problem_class(module: ModuleType) -> type[Problem]:
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Problem) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise BadProblemFile(f"it defines {len(classes)} subclasses of Problem; one is expected")
    return classes[0]
