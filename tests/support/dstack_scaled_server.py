"""The real dstack server with the waits between its background steps made shorter, for tests.

It runs by its path, in the server's own virtual environment. What the server does is untouched, only how
long it rests in between; figures of time measured with it mean nothing.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from functools import wraps
from typing import Any

#: A rest that is never shorter, or the server would do nothing else.
_LEAST_S = 0.02
_LEAST_TERMINATION = timedelta(seconds=5)


def scale(factor: float) -> None:
    """Shorten the rests of pipelines, how long a job may be out of reach, and waits to be tried again."""
    # Imported here: main has to prepare the environment first.
    from dstack._internal.server.background.pipeline_tasks import (  # noqa: PLC0415 - see above
        base,
        jobs_running,
        jobs_terminating,
    )
    from dstack._internal.server.background.pipeline_tasks.runs import pending  # noqa: PLC0415 - see above

    original = base.Pipeline.__init__

    @wraps(original)
    def scaled(self: Any, *args: Any, **options: Any) -> None:
        interval: timedelta = options["min_processing_interval"]
        original(self, *args, **{**options, "min_processing_interval": interval * factor})

    base.Pipeline.__init__ = scaled
    delays = base.Fetcher._DEFAULT_FETCH_DELAYS
    delays[:] = [max(_LEAST_S, delay * factor) for delay in delays]
    jobs_running.JOB_DISCONNECTED_RETRY_TIMEOUT *= factor
    pauses = pending._PENDING_RETRY_DELAYS
    pauses[:] = [pause * factor for pause in pauses]
    # An abort waits this long for a command that nobody stopped; less would lose logs on a busy machine.
    jobs_terminating.JOB_TERMINATION_DEADLINE = max(
        jobs_terminating.JOB_TERMINATION_DEADLINE * factor, _LEAST_TERMINATION
    )


def main() -> None:
    """`dstack server`, scaled by the first argument."""
    # dstack's own command does so before it imports anything; else its subprocesses may hang.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"
    scale(float(sys.argv[1]))
    from dstack._internal.cli.main import main as dstack  # noqa: PLC0415 - after it is scaled

    sys.argv = ["dstack", "server", *sys.argv[2:]]
    dstack()


if __name__ == "__main__":
    main()
