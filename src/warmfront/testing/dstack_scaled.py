"""The real dstack server with the waits between its background steps made shorter, for tests.

It runs by its path, in the server's own virtual environment. What the server does is untouched, only how
long it rests in between; figures of time measured with it mean nothing.
"""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import timedelta

#: A rest that is never shorter, or the server would do nothing else.
_LEAST_S = 0.02


def scale(factor: float) -> None:
    """Shorten the rests of pipelines, how long a job may be out of reach, and waits to be tried again."""
    from dstack._internal.server.background.pipeline_tasks import base, jobs_running  # noqa: PLC0415 - see main
    from dstack._internal.server.background.pipeline_tasks.runs import pending  # noqa: PLC0415 - see main

    original = base.Pipeline.__init__

    @wraps(original)
    def scaled(self: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401 - any pipeline's
        interval: timedelta = options["min_processing_interval"]
        original(self, *args, **{**options, "min_processing_interval": interval * factor})

    base.Pipeline.__init__ = scaled
    delays = base.Fetcher._DEFAULT_FETCH_DELAYS  # noqa: SLF001 - no setting exists
    delays[:] = [max(_LEAST_S, delay * factor) for delay in delays]
    jobs_running.JOB_DISCONNECTED_RETRY_TIMEOUT *= factor
    pauses = pending._PENDING_RETRY_DELAYS  # noqa: SLF001 - no setting exists
    pauses[:] = [pause * factor for pause in pauses]


def main() -> None:
    """`dstack server`, scaled by the first argument."""
    # Imported as late as dstack's own command does: the environment must be read first.
    scale(float(sys.argv[1]))
    from dstack._internal.cli.main import main as dstack  # noqa: PLC0415 - after it is scaled

    sys.argv = ["dstack", "server", *sys.argv[2:]]
    dstack()


if __name__ == "__main__":
    os.environ.setdefault("DSTACK_SERVER_LOG_FORMAT", "standard")
    main()
