"""`warmfront serve`: run the service, and print its address."""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import __version__, settings
from warmfront.cli.error_report import report_error
from warmfront.errors import WarmfrontError
from warmfront.logs import log_to_streams
from warmfront.service import composition

if TYPE_CHECKING:
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

_DEFAULT_URL = "http://127.0.0.1:3000"
_EXAMPLE = Path("examples/softmax.hip")


def run_service(*, host: str | None, port: int | None) -> int:
    """Run the service until it is stopped, and return the exit code."""
    try:
        configured = settings.load()
        configured = replace(
            configured,
            host=configured.host if host is None else host,
            port=configured.port if port is None else port,
        )
        log_to_streams()
        asyncio.run(
            composition.run_service(configured, on_listening=lambda bound: _print_welcome(configured, bound))
        )
    except WarmfrontError as error:
        return report_error(error)
    except asyncio.CancelledError:  # a signal arrived before the service was listening
        return 0
    return 0


def _print_welcome(configured: Settings, port: int) -> None:
    host = f"[{configured.host.strip('[]')}]" if ":" in configured.host else configured.host
    url = f"http://{host}:{port}"
    log.info("data directory: %s", configured.data_dir)
    print(f"Warmfront {__version__} listens on {url}", flush=True)
    print(f"Open {url} in a browser, or submit a kernel from another terminal:", flush=True)
    print(f"  {submit_command(url, Path(sys.argv[0]), Path.cwd())}", flush=True)


def submit_command(url: str, script: Path, folder: Path) -> str:
    """Return a command that submits an example, and that works in a terminal without the virtual environment.

    Args:
        url: The address of the service.
        script: The `warmfront` script that this process runs.
        folder: The current directory.
    """
    if script.name == "warmfront":
        script = folder / script
        program = [str(script.relative_to(folder) if script.is_relative_to(folder) else script)]
    else:
        program = [sys.executable, "-m", "warmfront"]
    example = _EXAMPLE if (folder / _EXAMPLE).is_file() else Path("KERNEL.hip")
    command = shlex.join([*program, "submit", str(example), "--problem", "softmax"])
    address = "" if url == _DEFAULT_URL else f"WARMFRONT_URL={url} "
    return f"cd {shlex.quote(str(folder))} && {address}{command}"
