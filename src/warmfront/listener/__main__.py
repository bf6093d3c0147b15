"""`python -m warmfront.listener`: the listener on a VM, where the rest of Warmfront is not installed.

It takes the options of `warmfront listener` and imports only what they need.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from warmfront import settings
from warmfront.errors import UsageError, WarmfrontError
from warmfront.hip.device_facts import DeviceFacts
from warmfront.listener.server import ListenerOptions, serve
from warmfront.listener.single_attempt import judge_single_attempt
from warmfront.listener.slot_process import serve_slot


def main() -> int:
    """Run the listener and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m warmfront.listener", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--uds", type=Path)
    parser.add_argument("--dead-man", type=float, dest="watchdog_s")
    parser.add_argument("--announce", type=Path)
    parser.add_argument("--toolchain")
    parser.add_argument(
        "--stay-to-report",
        action="store_true",
        help="if this VM cannot judge, keep running to report the reason",
    )
    parser.add_argument("--once", type=Path, help="judge the attempt in this file, then exit")
    parser.add_argument(
        "--slot", action="store_true", help="judge the attempts that a listener sends on standard input"
    )
    parser.add_argument("--device", help="the device of the slot, as JSON")
    arguments = parser.parse_args()
    try:
        configured = settings.load(env_file=None)
        if arguments.once is not None:
            judge_single_attempt(arguments.once, arguments.toolchain, configured)
            return 0
        if arguments.slot:
            device = DeviceFacts.from_json(json.loads(arguments.device)) if arguments.device else None
            serve_slot(arguments.toolchain, configured, device)
            return 0
        options = ListenerOptions(
            host=arguments.host,
            port=arguments.port,
            watchdog_s=arguments.watchdog_s or configured.watchdog_s,
            announce=arguments.announce,
            toolchain=arguments.toolchain,
            uds=arguments.uds,
            stay_to_report=arguments.stay_to_report,
        )
        serve(options, configured)
    except WarmfrontError as error:
        print(f"{error.code}: {error.message} {error.hint or ''}".rstrip(), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
