"""The API against its own description: a machine makes up requests, good and bad, for a real service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.services import Service, serving

#: The form cannot say that a dtype must be the problem's, so what it calls good may still be refused.
NOT_ASKED = "positive_data_acceptance"

#: A stream of changes has no end to wait for.
ENDLESS = "/api/amd/operations/stream"

#: A simulation takes a core for seconds, and hundreds of them for an hour.
SLOW = ("/api/amd/forecast", "/api/amd/what-if")


@pytest.mark.slow
@pytest.mark.parametrize("keyed", [False, True], ids=["local user", "with a key"])
def test_no_answer_is_a_crash_or_undocumented(tmp_path: Path, *, keyed: bool) -> None:
    """Whatever is sent, nothing is a 500, and every status, type and body is as the OpenAPI says."""
    with serving(tmp_path, WARMFRONT_RATE_LIMIT="100000") as service:
        headers = {"Authorization": f"Bearer {_new_key(service)}"} if keyed else {}
        done = subprocess.run(
            [
                str(Path(sys.executable).parent / "schemathesis"),
                *("run", f"{service.url}/openapi.json"),
                *(
                    "--exclude-checks",
                    NOT_ASKED,
                    "--exclude-path",
                    ENDLESS,
                    *(word for path in SLOW for word in ("--exclude-path", path)),
                    "--max-examples",
                    "40",
                    "--seed",
                    "1",
                ),
                *("--workers", "2", "--request-timeout", "60", "--no-color"),
                *(f"--header={name}: {value}" for name, value in headers.items()),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr
        # It was a real conversation: some of what was made up was taken.
        taken = httpx.get(f"{service.url}/api/amd/submissions", headers=headers).json()["items"]
        assert taken


def _new_key(service: Service) -> str:
    words = service.run("keys", "create", "--user", "ada").stdout.split()
    return next(word for word in words if word.startswith("wf_"))
