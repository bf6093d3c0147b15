"""Make a built documentation site ready to be served with a strict content security policy.

Usage: python -m scripts.finish_docs DIRECTORY [FONT]

Inline scripts are moved to files, because the policy allows only scripts of the same origin. This fails if
anything is left that the policy would block: an inline script or style, or a file of another site. Files that
nothing loads are removed, and text is compressed once instead of for each request. FONT is the typeface of
the page, if the page is built.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where the service serves the site. Only the page for addresses that do not exist has to know it.
_ROOT = "/docs/"
_SCRIPTS = Path("assets/javascripts")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
#: The theme's dialog for searching, which has no name.
_SEARCH = 'data-md-component="search" role="dialog"'
#: What the policy would block. A script with a type such as application/json is data.
_BLOCKED = {
    "an inline script": re.compile(r"<script(?![^>]*\b(?:src=|type=\"?application/json))[^>]*>"),
    "an inline style": re.compile(r"<style\b|<[^>]+\sstyle="),
    "an inline event handler": re.compile(r"<[^>]+\son[a-z]+="),
    "a file of another site": re.compile(r"<(?:script|link|img|iframe)\b[^>]+(?:src|href)=\"?(?:https?:)?//"),
}
_COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".txt", ".hip", ".md"}


def finish(site: Path) -> None:
    """Move inline scripts to files, remove what is not needed, and compress the rest."""
    shutil.rmtree(site / _SCRIPTS / "lunr", ignore_errors=True)  # languages other than English
    for path in [*site.rglob("*.map"), *site.glob("sitemap.xml*")]:
        path.unlink()
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        if page == site / "404.html":
            text = text.replace('"/', f'"{_ROOT}')
        text = text.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
        to_root = _ROOT if page == site / "404.html" else "../" * (len(page.relative_to(site).parts) - 1)
        move = partial(_move, site=site, to_root=to_root)
        page.write_text(_INLINE.sub(move, text), "utf-8")
    for path in [path for path in site.rglob("*") if path.is_file() and path.suffix in _COMPRESSED]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def add_font(site: Path, font: Path) -> None:
    """Copy the page's typeface to the site, and use it."""
    shutil.copyfile(font, site / "assets" / "inter.woff2")
    with (site / "site.css").open("a", encoding="utf-8") as style_sheet:
        style_sheet.write(_FONT_FACE)


_FONT_FACE = """
@font-face {
  font-family: "Inter Variable";
  font-weight: 100 900;
  font-display: swap;
  src: url("assets/inter.woff2") format("woff2");
}
"""


def _move(element: re.Match[str], *, site: Path, to_root: str) -> str:
    """Write an inline script to a file and return the element that loads it."""
    content = element[1].encode()
    path = _SCRIPTS / f"inline.{hashlib.sha256(content).hexdigest()[:12]}.js"
    (site / path).write_bytes(content)
    return f'<script src="{to_root}{path.as_posix()}"></script>'


def blocked(site: Path) -> Iterator[str]:
    """Yield what the content security policy would block."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text("utf-8")
        for what, pattern in _BLOCKED.items():
            if found := pattern.search(text):
                yield f"{page.relative_to(site)} has {what}: {found[0][:100]}"


def main() -> int:
    """Finish the site; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("font", type=Path, nargs="?")
    arguments = parser.parse_args()
    site: Path = arguments.directory
    if arguments.font is not None:
        add_font(site, arguments.font)
    finish(site)
    problems = list(blocked(site))
    for problem in problems:
        print(f"docs: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
