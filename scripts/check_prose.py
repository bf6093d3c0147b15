"""Report words and phrases that the style rules (docs/style.md) forbid.

Usage: python scripts/check_prose.py [--docstrings] [PATH ...]

Prints `file:line: phrase → suggestion` and exits with 1 if anything was found. Phrases are also found where
they wrap to the next line. `--docstrings` also reports functions whose docstring does not begin with a verb.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PATHS = (
    "src",
    "docs",
    "frontend/src",
    "frontend/index.html",
    "tests",
    "bench",
    "examples",
    "deploy",
    "scripts",
    ".github",
    ".env.example",
    "Makefile",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "RELEASE.md",
    "SECURITY.md",
    "pyproject.toml",
)
SUFFIXES = frozenset(
    {"", ".c", ".cpp", ".css", ".example", ".h", ".hip", ".html", ".in", ".md", ".py", ".sh", ".toml"}
    | {".ts", ".tsx", ".yaml", ".yml"}
)
#: Not ours to word, or about the words themselves.
EXCLUDED = (
    "scripts/check_prose.py",
    "docs/glossary.md",
    "src/warmfront/api/docs_site",
    "src/warmfront/api/site",
    "__pycache__",
    "node_modules",
)

#: What a rate can be per; "8 waves per SIMD", not "8 waves a SIMD".
PER = (
    "attempt|block|byte|call|case|column|core|CU|cycle|day|element|event|file|GPU|group|kernel|lane|launch|line|minute|month"
    "|node|owner|page|pair|problem|process|query|request|row|run|sample|second|session|SIMD|size|submission|task|thread|user"
    "|VM|warp|wave|wavefront|week|window|work-group|worker|year"
)
COUNTED = (
    "blocks|bytes|calls|cases|events|files|lanes|launches|lines|loads|registers|requests|rows|samples|submissions|tasks"
    "|threads|tokens|VMs|waves|words|[KMG]?i?B"
)
NUMBER = r"(?<![$\d.,])\d+(?:[.,]\d+)*|one|two|three|four|five|six|eight|ten|hundred|thousand|million"

#: What may follow "come" and "came".
FINE_AFTER_COME = r"(?! (?:from|first|last|next|before|after|with|to)\b)"
#: What may follow "is no".
FINE_AFTER_NO = r"(?!longer|more|such|less|need|later|fewer|worse|better|use\b|different|[a-z]*er\b)"

#: A regular expression and what to write instead. A space matches any white space, and a break in a comment.
#: Matched without regard to case; `_` separates words, so that identifiers are checked as well.
RULES: tuple[tuple[str, str], ...] = (
    ("anew", "again"),
    ("of late", "recently"),
    ("(?:comes?|came|coming) to(?! (?:rest|light))", "costs, totals, results in, is"),
    (f"came{FINE_AFTER_COME}", "arrived, was received, was returned, was provisioned"),
    (
        f"(?:did|does|do|has|have|will|would|may|can) (?:not )?come{FINE_AFTER_COME}",
        "arrive, be provisioned, be returned",
    ),
    ("who(?:so)?ever", "the caller, the client, any user"),
    ("whom", "name the person or part"),
    (
        "who (?:waits?|waited|asks?|asked|wants?|lost|hands?|listens?|follows?|reads?|looks?)",
        "the submission, client or user that",
    ),
    ("those who", "the users, clients or submissions that"),
    (
        # Not the Unix user: `nobody`, NOBODY, become_nobody().
        "(?<![\"'`])(?-i:[Nn]o|[Aa]ny|[Ss]ome|[Ee]very)(?-i:body)(?![\"'`(])",
        "no one, no client, no submission, anyone: name the part",
    ),
    ("whose (?:it|they|this) (?:is|are|was)", "its owner"),
    ("mend(?:s|ed|ing)?", "fix"),
    ("told", "reported, notified, shown, named"),
    ("said", "reported, printed, returned, stated"),
    ("hears?|heard", "receives, received, was notified"),
    ("(?:none )?of ours", "our …, not one of our …"),
    ("had cost", "would have cost"),
    ("had (?:been|taken) (?:cheaper|dearer)", "would have been"),
    ("dearer|dearest|dear(?= enough)", "more expensive"),
    ("let(?:s|ting)? go", "release"),
    ("(?:is|are|was|were|be) away", "is unavailable"),
    ("at hand", "available"),
    ("so many(?! that)", "this many, a given number of"),
    ("(?:for )?so long(?! as)", "this long, for the given time"),
    ("over and over", "repeatedly"),
    ("mak(?:es?|ing) of|made of (?:it|them|this|that)", "derive from, interpret as"),
    ("for nothing", "without need, free of charge, in vain"),
    ("(?:an?|the|its|this|that|own|one|every|each|other) room|rooms", "module, package, box"),
    ("on (?:its|their) way", "in progress, being provisioned, sent"),
    ("(?:is|are|was|were) over(?= ?(?:[.,;:)\"'`]|$|and\\b|or\\b))", "has ended"),
    ("(?:no|any) more(?= ?[.,;:)\"'`])", "no longer"),
    ("look(?:s|ed|ing)? into", "read, inspect"),
    ("look(?:s|ed|ing)? after", "manage"),
    ("se(?:es?|en|eing) to", "handle, ensure"),
    ("signs? of life", "heartbeat"),
    ("for ever", "forever, indefinitely"),
    ("lest", "so that … not"),
    ("ought", "should"),
    ("shall", "must, will"),
    ("hand(?:s|ed|ing)? in", "submit"),
    ("g(?:oes|o|oing) on(?! (?:a|the)\\b)|went on", "continue"),
    ("went(?! wrong)", "name the event: was terminated, was sent, failed"),
    ("purse", "budget, credits"),
    ("hardships?", "failures"),
    ("(?-i:[Dd]ead man)", "watchdog"),  # but DEAD_MAN is the name of a setting
    ("foresight|foresees?|foresaw|foreseen", "arrival model, prewarm, predict"),
    ("workshop|workbench", "judge runtime, judge run"),
    ("hunt(?:s|ed|ing|er)?", "bug finder"),
    ("stor(?:y|ies)", "event log, details, report"),
    ("stands? in for|stand ins?|stand-ins?", "simulates, simulated, replaces"),
    ("(?:be|been) had", "be available, be obtained"),
    ("as it goes", "while it runs"),
    ("the same of", "write it out"),
    ('as above(?= ?[."])|as below(?= ?[."])', "write it out"),
    ('(?:is|are) well(?= ?[.,;"])', "is healthy"),
    ("asked for", "requested"),
    ("answers? no", "does not respond"),
    ("as good as(?! possible)", "almost, equivalent to"),
    ("wish(?:es|ed|ing)?", "want, request"),
    (
        f"(?<!there )(?:is|are|was|were) no {FINE_AFTER_NO}[a-z]{{2,}}(?: ?[.,;:)\"'`]|$)",
        "is not a …",
    ),
    ("costs? (?:them|it|us|him)? ?nothing more", "is free"),
    ("nothing (?:was|is) (?:made|done) of", "is ignored"),
    ("of (?:no|any) use", "useless, useful"),
    ("will do(?= ?[.,;])", "is enough, is accepted"),
    ("cannot be asked|could not be asked", "is unavailable"),
    ("ha(?:s|ve) no part in", "does not affect"),
    ("(?:is|was|be) let run", "is resumed"),
    ("thereby|therein|thereof|hitherto|henceforth|upon|amongst|whilst", "plain words"),
    ("(?:set|clean)-up|time-outs?", "setup, cleanup, timeout"),
    (f"(?:{NUMBER}) an? (?:{PER})s?", "per"),
    (f"(?:{COUNTED}) an? (?:{PER})", "per"),
    ("times an? (?:second|minute|hour|day|week|month|year)", "per"),
)

#: A break between two words of a phrase: spaces, or the end of a line and the next line's comment mark.
BREAK = r"(?:[ \t_]+|[ \t]*\n[ \t]*(?:#:?|//+|\*|>)?[ \t]*)"


class Rule(NamedTuple):
    """One forbidden phrase."""

    pattern: re.Pattern[str]
    suggestion: str


def compile_rules() -> list[Rule]:
    """Compile the rules, with word boundaries on both sides."""
    return [
        Rule(
            re.compile(
                rf"(?<![A-Za-z0-9$])(?:{_with_breaks(pattern)})(?![A-Za-z0-9])", re.IGNORECASE | re.MULTILINE
            ),
            suggestion,
        )
        for pattern, suggestion in RULES
    ]


def _with_breaks(pattern: str) -> str:
    """Let each plain space match a line break, but not in a lookbehind or a character class."""
    parts = re.split(r"(\(\?<[!=][^)]*\)| \?|\[[^\]]*\])", pattern)
    return "".join(part if index % 2 else part.replace(" ", BREAK) for index, part in enumerate(parts))


def files_in(paths: Iterable[str]) -> Iterator[Path]:
    """List the text files under the paths, which are relative to the repository."""
    for name in paths:
        path = ROOT / name if not Path(name).is_absolute() else Path(name)
        candidates = sorted(path.rglob("*")) if path.is_dir() else [path]
        for candidate in candidates:
            relative = candidate.resolve().relative_to(ROOT).as_posix()
            if not candidate.is_file() or any(part in relative for part in EXCLUDED):
                continue
            if candidate.suffix in SUFFIXES and not candidate.name.startswith("LICENSE"):
                yield candidate


def check_text(text: str, rules: list[Rule]) -> Iterator[tuple[int, str, str]]:
    """Find each forbidden phrase: its line, the phrase and the suggestion."""
    for rule in rules:
        for match in rule.pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), rule.suggestion


#: Words with which a description begins and an instruction does not.
NOT_VERBS = re.compile(
    r"(?:a|all|an|and|any|as|at|both|by|each|either|else|enough|every|everything|for|from|half|here|how|if|in|"
    r"into|is|it|its|just|more|most|neither|never|no|none|not|nothing|of|on|one|ones|only|or|other|others|"
    r"our|out|over|same|so|some|that|the|their|them|then|there|these|they|this|those|to|true|two|under|"
    r"until|up|us|was|we|what|whatever|when|where|whether|which|while|who|whose|why|with|within|without|"
    r"yes|you)\b",
    re.IGNORECASE,
)


def check_docstrings(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """Find functions whose docstring does not begin with a verb; properties may be described by a noun."""
    for node in ast.walk(ast.parse(text, str(path))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_property(node):
            continue
        docstring = ast.get_docstring(node) or ""
        if docstring and (NOT_VERBS.match(docstring) or not docstring[0].isalpha()):
            line = docstring.splitlines()[0]
            yield node.body[0].lineno, f'"{line[:50]}"', "begin with an imperative verb"


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in node.decorator_list}
    return bool(names & {"property", "cached_property", "fixture", "setter"})


def main() -> int:
    """Check the files and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docstrings", action="store_true", help="also check how docstrings begin")
    parser.add_argument("paths", nargs="*", help="files and folders; by default everything")
    arguments = parser.parse_args()
    paths = arguments.paths or [name for name in DEFAULT_PATHS if (ROOT / name).exists()]
    rules = compile_rules()
    count = 0
    for path in files_in(paths):
        text = path.read_text(encoding="utf-8")
        findings = list(check_text(text, rules))
        if arguments.docstrings and path.suffix == ".py" and not path.name.startswith("test_"):
            findings += check_docstrings(path, text)
        for line, phrase, suggestion in sorted(findings):
            print(f"{path.resolve().relative_to(ROOT)}:{line}: {phrase} → {suggestion}")
        count += len(findings)
    if count:
        print(f"{count} phrases to reword; docs/style.md has the rules", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
