"""`python -m warmfront.listener`: the listener where nothing else of Warmfront is, as on a leased VM.

Its options are those of `warmfront listener`; only what they need is loaded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warmfront import settings
from warmfront.errors import UsageError, WarmfrontError
from warmfront.listener.server import ListenerOptions, serve
from warmfront.listener.single_attempt import judge_single_attempt


def main() -> int:
    """Listen; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m warmfront.listener", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--dead-man", type=float, dest="dead_man_s")
    parser.add_argument("--announce", type=Path)
    parser.add_argument("--toolchain")
    parser.add_argument("--once", type=Path, help="judge the attempt in this file, and end")
    typed = parser.parse_args()
    try:
        configured = settings.load(env_file=None)
        if typed.once is not None:
            judge_single_attempt(typed.once, typed.toolchain, configured)
            return 0
        options = ListenerOptions(
            host=typed.host,
            port=typed.port,
            dead_man_s=typed.dead_man_s or configured.dead_man_s,
            announce=typed.announce,
            toolchain=typed.toolchain,
        )
        serve(options, configured)
    except WarmfrontError as error:
        print(f"{error.code}: {error.message} {error.hint or ''}".rstrip(), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
