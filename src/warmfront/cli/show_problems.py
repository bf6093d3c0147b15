"""`warmfront problems`: what can be solved, what exactly is asked, and code to begin with."""

from __future__ import annotations

import json

from warmfront import problems
from warmfront.cli.error_report import report_error
from warmfront.cli.run_local import choose_dtype
from warmfront.errors import WarmfrontError
from warmfront.problems.spec import Scale


def print_list(*, as_json: bool) -> None:
    """All problems, the easiest first."""
    found = problems.all_problems()
    if as_json:
        print(json.dumps([problem.summary() for problem in found], indent=2))
        return
    from rich.console import Console  # noqa: PLC0415 - for people only
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False)
    for name in ("problem", "difficulty", "dtypes"):
        table.add_column(name, no_wrap=True)
    table.add_column("about")
    for problem in found:
        dtypes = ", ".join(dtype.value for dtype in problem.dtypes)
        names = ", ".join([problem.slug, *problem.aliases])
        table.add_row(names, problem.difficulty.value, dtypes, ", ".join(problem.tags))
    console = Console()
    console.print(table)
    console.print(
        "warmfront problems show SLUG prints the statement, starter SLUG code to begin with.", highlight=False
    )


def print_problem(slug: str, *, as_json: bool) -> int:
    """One problem: statement, signature and cases."""
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
    from rich.console import Console  # noqa: PLC0415 - for people only
    from rich.markdown import Markdown  # noqa: PLC0415 - as above

    declarations = "\n".join(f"{problem.declaration(dtype)};" for dtype in problem.dtypes)
    listed = "\n".join(f"- {name}" for name in cases[Scale.CPU.value])
    heading = f"# {problem.title}\n{problem.statement}\n```cpp\n{declarations}\n```\n"
    Console().print(Markdown(f"{heading}\n**Cases on this machine**\n\n{listed}\n"))
    return 0


def print_starter(slug: str, dtype: str | None) -> int:
    """Code that compiles and is wrong."""
    try:
        problem = problems.get(slug)
        print(problem.starter(choose_dtype(problem, dtype)), end="")
    except WarmfrontError as error:
        return report_error(error)
    return 0
