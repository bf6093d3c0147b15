"""docs/api.md: run every curl line in order against a real service."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

from tests.support.api_harness import ApiHarness, served
from tests.support.dstack_services import SLEEPING
from tests.support.services import ROOT, serving

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "api.md").read_text()
LINES = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))

#: The submission that is cancelled must not end before, however slow the machine is.
TO_CANCEL = "-d @request.json http://127.0.0.1:3000/api/amd/submit > taken.json"
ENDLESS_REQUEST = {"problem": "relu", "solution_code": SLEEPING, "gpu_type": "MI300X", "dtype": "float32"}

#: `--fail` is only for the test: a reader wants to see the body of an error.
PREPARED = """
set -euo pipefail
curl() { command curl --fail-with-body -sS --max-time 120 "$@"; }
"""


def test_every_line_of_the_page_works(tmp_path: Path) -> None:
    """Each curl line succeeds, and the last events of both streams are verdicts."""
    (tmp_path / "data").mkdir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "endless.json").write_text(json.dumps(ENDLESS_REQUEST))
    assert LINES.count(TO_CANCEL) == 1
    lines = LINES.replace(TO_CANCEL, TO_CANCEL.replace("request.json", "endless.json"))
    with serving(tmp_path / "data") as service:
        script = PREPARED + lines.replace("http://127.0.0.1:3000", service.url)
        done = subprocess.run(
            ["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr)
    assert done.stdout.count("event: ACCEPTED") == 3
    assert '"verdict":"CANCELLED"' in done.stdout
    assert "AMD MI300X (192GB, $1.99/hr)" in done.stdout


@served(start=False)
async def test_every_route_has_a_line(harness: ApiHarness) -> None:
    """The page has at least one curl line for every route."""
    paths = (await harness.client.get("/openapi.json")).json()["paths"]
    for path in paths:
        pattern = (
            re.escape(path)
            .replace(r"\{submission_id\}", r"\$ID")
            .replace(r"\{slug\}", "leaky-relu")
            .replace(r"\{vm_id\}", r"\$VM")
            .replace(r"\{gpu_type\}", "MI300X")
            .replace(r"account/keys/\{key_id\}", "account/keys/0123456789ab")
            .replace(r"\{key_id\}", r"\$KEY_ID")
            .replace(r"\{share_id\}", r"\$SHARE")
            .replace(r"\{name\}", "ann")
            .replace(r"\{team\}", "red")
            .replace(r"\{assignment_id\}", r"\$ASSIGNMENT")
            .replace(r"\{invitation_id\}", r"\$INVITATION")
        )
        assert re.search(rf"127\.0\.0\.1:3000{pattern}['?\s]", LINES), path
