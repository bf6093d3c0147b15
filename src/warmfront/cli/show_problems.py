"""`warmfront problems`: list the problems, print their statements and starter code."""

from __future__ import annotations

import json

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from warmfront import problems
from warmfront.cli.arguments import parse_dtype
from warmfront.cli.error_report import report_error
from warmfront.errors import WarmfrontError
from warmfront.problems.spec import Scale


def print_list(*, as_json: bool) -> None:
    """Print all problems, sorted by slug."""
    catalog = problems.all_problems()
    if as_json:
        print(json.dumps([problem.summary() for problem in catalog], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("problem", "difficulty", "dtypes"):
        table.add_column(name, no_wrap=True)
    table.add_column("tags")
    for problem in catalog:
        dtypes = ", ".join(dtype.value for dtype in problem.dtypes)
        names = ", ".join([problem.slug, *problem.aliases])
        table.add_row(names, problem.difficulty.value, dtypes, ", ".join(problem.tags))
    console = Console()
    console.print(table)
    console.print(
        "`warmfront problems show SLUG` prints a statement, `warmfront problems starter SLUG` starter code.",
        highlight=False,
    )


def print_problem(slug: str, *, as_json: bool) -> int:
    """Print the statement, signature and cases of a problem."""
    try:
        problem = problems.get(slug)
    except WarmfrontError as error:
        return report_error(error)
    cases = {scale.value: [case.name for case in problem.cases(scale)] for scale in Scale}
    if as_json:
        print(
            json.dumps(
                {**problem.summary(), "statement": problem.statement.strip(), "cases": cases}, indent=2
            )
        )
        return 0
    declarations = "\n".join(f"{problem.declaration(dtype)};" for dtype in problem.dtypes)
    case_list = "\n".join(f"- {name}" for name in cases[Scale.CPU.value])
    heading = f"# {problem.title}\n{problem.statement}\n```cpp\n{declarations}\n```\n"
    Console().print(Markdown(f"{heading}\n**Cases on this machine**\n\n{case_list}\n"))
    return 0


def print_starter(slug: str, dtype: str | None) -> int:
    """Print the starter code of a problem, which compiles but gives wrong results."""
    try:
        problem = problems.get(slug)
        print(problem.starter(parse_dtype(dtype, problem)), end="")
    except WarmfrontError as error:
        return report_error(error)
    return 0
