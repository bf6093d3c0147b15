"""YAML that is written without a library is parsed as the same values."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.dstack_owners import OWNERSHIP
from warmfront import settings as configured
from warmfront.cli.yaml_text import to_yaml
from warmfront.providers.dstack import listener_bundle
from warmfront.providers.dstack.pool_mode import DstackProvider

_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), include_characters="\n\t"))
_VALUES = st.recursive(
    st.one_of(_TEXTS, st.integers(), st.booleans(), st.none(), st.floats(0.01, 1e6)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(_TEXTS, inner)),
    max_leaves=8,
)


@settings(deadline=None)
@example({"\u2028": []})
@example({"text": "two\nlines\u2029", "\x85": "\xa0\U0001f600"})
@given(st.dictionaries(_TEXTS, _VALUES, min_size=1))
def test_what_is_written_is_read(value: dict[str, Any]) -> None:
    """PyYAML reads the values that were written."""
    assert yaml.safe_load(to_yaml(value)) == value


@pytest.mark.parametrize(
    "text", ["0..1", "2..", "1:30", "yes", "1e3", "0x1f", "2026-01-01", "a: b", "# c", "*"]
)
def test_text_stays_text(text: str) -> None:
    """Text that YAML would read as a number, a time or a comment is quoted."""
    assert yaml.safe_load(to_yaml({"text": text, "list": [text]})) == {"text": text, "list": [text]}


def test_printed_worker_is_the_task_that_is_submitted(tmp_path: Path) -> None:
    """`fleet config worker` prints the provider's task without its token, and without dstack installed."""
    without_dstack = (
        "import sys; sys.modules.update(dict.fromkeys(('dstack', 'yaml', 'asyncssh')));"
        "from warmfront.cli import main; sys.argv = ['warmfront', 'fleet', 'config', 'worker']; main()"
    )
    environ = {"WARMFRONT_CACHE_DIR": str(tmp_path / "cache"), "AMD_GPU_TYPE": "MI325X,MI300X"}
    done = subprocess.run(
        [sys.executable, "-c", without_dstack],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = yaml.safe_load(done.stdout)
    ours = configured.load(environ, env_file=None)
    client: Any = SimpleNamespace(project="main")  # no other attribute is used
    provider = DstackProvider(ours, client, ownership=OWNERSHIP)
    submitted = provider.task("vm_example", "MI325X", "secret")
    assert submitted.pop("name") == f"wf-{OWNERSHIP.id}-vm-example"  # the owner id is in the database
    assert printed.pop("name") == "wf-vm-example"
    variables = submitted.pop("env")
    assert [name.partition("=")[0] for name in printed.pop("env")] == list(variables)
    assert printed == submitted
    assert "secret" not in done.stdout
    folder = Path(printed["files"][0].rpartition(":")[0])
    assert (folder / listener_bundle.ARCHIVE).is_file()
    assert printed["files"][0].endswith(f":{listener_bundle.FOLDER}")
