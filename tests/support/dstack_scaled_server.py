"""The real dstack server with shorter intervals between its background steps, for tests.

It is started by path, in the server's own virtual environment. The intervals are changed, so durations
measured with it are meaningless; and sizes of AMD Developer Cloud whose slug ends in `-spot` become spot
offers, which the cloud does not have in reality.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from functools import wraps
from typing import Any

_SPOT_SUFFIX = "-spot"
#: The shortest interval; below it the server would be busy polling.
_MIN_INTERVAL_S = 0.02
_MIN_TERMINATION_DEADLINE = timedelta(seconds=5)


def scale(factor: float) -> None:
    """Scale the intervals of the pipelines, the limit for unreachable jobs and the delays before retries."""
    # Imported here, because main has to prepare the environment first.
    from dstack._internal.server.background.pipeline_tasks import (  # noqa: PLC0415 - see above
        base,
        jobs_running,
        jobs_terminating,
    )
    from dstack._internal.server.background.pipeline_tasks.instances import (  # noqa: PLC0415 - see above
        common,
        ssh_deploy,
    )
    from dstack._internal.server.background.pipeline_tasks.runs import pending  # noqa: PLC0415 - see above

    original = base.Pipeline.__init__

    @wraps(original)
    def scaled(self: Any, *args: Any, **options: Any) -> None:
        interval: timedelta = options["min_processing_interval"]
        original(self, *args, **{**options, "min_processing_interval": interval * factor})

    base.Pipeline.__init__ = scaled
    delays = base.Fetcher._DEFAULT_FETCH_DELAYS
    delays[:] = [max(_MIN_INTERVAL_S, delay * factor) for delay in delays]
    jobs_running.JOB_DISCONNECTED_RETRY_TIMEOUT *= factor
    # How often and for how long it tries to delete a VM before it gives up.
    common.TERMINATION_RETRY_TIMEOUT *= factor
    common.TERMINATION_RETRY_MAX_DURATION *= factor
    ssh_deploy.PROVISIONING_TIMEOUT_SECONDS *= factor  # for a host of an SSH fleet
    delays_before_retry = pending._PENDING_RETRY_DELAYS
    delays_before_retry[:] = [delay * factor for delay in delays_before_retry]
    # An abort waits this long for the command's end; a shorter limit would lose logs on a busy machine.
    if hasattr(jobs_terminating, "JOB_TERMINATION_DEADLINE"):  # not before 0.22.4
        jobs_terminating.JOB_TERMINATION_DEADLINE = max(
            jobs_terminating.JOB_TERMINATION_DEADLINE * factor, _MIN_TERMINATION_DEADLINE
        )


def add_spot_offers() -> None:
    """Mark the fake cloud's spot sizes in the catalog; the rest is dstack's own code."""
    from gpuhunt.providers import digitalocean  # type: ignore[import-untyped]  # noqa: PLC0415 - see above

    if not hasattr(digitalocean, "_make_offers"):  # not with servers before 0.22
        return
    original = digitalocean._make_offers

    @wraps(original)
    def marked(response: Any) -> Any:
        offers = original(response)
        for offer in offers:
            offer.spot = offer.instance_name.endswith(_SPOT_SUFFIX)
        return offers

    digitalocean._make_offers = marked


def main() -> None:
    """Run `dstack server` with intervals scaled by the first argument."""
    # As dstack's own command does before its imports; without it, subprocesses may hang.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"
    scale(float(sys.argv[1]))
    add_spot_offers()
    from dstack._internal.cli.main import main as dstack  # noqa: PLC0415 - after scaling

    sys.argv = ["dstack", "server", *sys.argv[2:]]
    dstack()


if __name__ == "__main__":
    main()
