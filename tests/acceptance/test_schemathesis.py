"""The API against its OpenAPI description: generated valid and invalid requests to a real service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.services import Service, serving

#: OpenAPI cannot express that a dtype must be one of the problem's, so a valid request may still be rejected.
SKIPPED_CHECK = "positive_data_acceptance"

#: A stream that never ends.
ENDLESS = "/api/amd/operations/stream"

#: Each request simulates for seconds; hundreds of them take an hour.
SLOW = ("/api/amd/forecast", "/api/amd/what-if")

#: The first key ends access without one, so all later requests of the local user would only get 401.
CREATES_FIRST_KEY = "POST /api/amd/operators/keys"


@pytest.mark.slow
@pytest.mark.parametrize("keyed", [False, True], ids=["local user", "with a key"])
def test_every_response_is_documented(tmp_path: Path, *, keyed: bool) -> None:
    """No request causes a 500, and every status, media type and body matches the OpenAPI description."""
    with serving(tmp_path, WARMFRONT_RATE_LIMIT="100000") as service:
        headers = {"Authorization": f"Bearer {_new_key(service)}"} if keyed else {}
        excluded = () if keyed else ("--exclude-name", CREATES_FIRST_KEY)
        done = subprocess.run(
            [
                str(Path(sys.executable).parent / "schemathesis"),
                *("run", f"{service.url}/openapi.json"),
                *(
                    "--exclude-checks",
                    SKIPPED_CHECK,
                    "--exclude-path",
                    ENDLESS,
                    *(word for path in SLOW for word in ("--exclude-path", path)),
                    *excluded,
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
        assert done.returncode == 0, done.stdout + done.stderr
        # Some generated requests were accepted, so more than the error paths was tested.
        listed = httpx.get(f"{service.url}/api/amd/submissions", headers=headers)
        assert listed.status_code == 200, listed.text
        assert listed.json()["items"]


def _new_key(service: Service) -> str:
    words = service.run("keys", "create", "--user", "ada").stdout.split()
    return next(word for word in words if word.startswith("wf_"))
