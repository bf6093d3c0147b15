"""Report class names that are defined more than once in src/.

Usage: python scripts/check_names.py

One name for two things makes a search useless. Private classes (with a leading underscore) do not count: they
are local to their module.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print each name that has several definitions."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    repeated = {name: lines for name, lines in sorted(places.items()) if len(lines) > 1}
    for name, lines in repeated.items():
        print(f"{name} is defined {len(lines)} times: {', '.join(lines)}")
    return 1 if repeated else 0


if __name__ == "__main__":
    sys.exit(main())
