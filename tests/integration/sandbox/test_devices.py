"""Device files in every sandbox, as udev creates those of a GPU: root:render with mode 0660."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.boxes import SandboxHarness, harness, nothing_left

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["harness", "nothing_left"]  # fixtures: pytest finds them by name

pytestmark = pytest.mark.root

RENDER_GROUP = 109
ZERO = os.makedev(1, 5)  # /dev/zero: reading it needs no GPU


@pytest.fixture(name="nodes")
def _nodes() -> Iterator[Path]:
    """Make the device files of a GPU in a new folder of /dev: nodes in /tmp could not be passed to Docker."""
    folder = Path(tempfile.mkdtemp(prefix="warmfront-test-", dir="/dev"))
    folder.chmod(0o755)
    for name in ("kfd", "renderD128", "card0"):
        os.mknod(folder / name, stat.S_IFCHR | 0o660, ZERO)
        os.chown(folder / name, 0, RENDER_GROUP)
        (folder / name).chmod(0o660)
    yield folder
    shutil.rmtree(folder)


def test_a_box_can_open_its_devices_and_no_others(harness: SandboxHarness, nodes: Path) -> None:
    """The box gets the numeric group of the files; devices that were not passed do not exist in it."""
    devices = (str(nodes / "kfd"), str(nodes / "renderD128"))
    script = f"for node in kfd renderD128 card0; do echo $node $(head -c 4 {nodes}/$node | wc -c); done"
    template = harness.template(("/bin/sh", "-c", script), may_fork=True, devices=devices)
    lines = [line for line in harness.lines(template) if not line.startswith("head:")]
    assert lines == ["kfd 4", "renderD128 4", "card0 0"]


def test_a_box_with_devices_sees_the_topology(harness: SandboxHarness, nodes: Path) -> None:
    """The runtime of a GPU reads /sys; in bubblewrap, a box without devices has no /sys."""
    script = "test -d /sys/devices/system/cpu && echo yes || echo no; touch /sys/devices/x 2>&1 | wc -l"
    template = harness.template(("/bin/sh", "-c", script), may_fork=True, devices=(str(nodes / "kfd"),))
    assert harness.lines(template) == ["yes", "1"]


def test_a_box_without_devices_has_no_group(harness: SandboxHarness, nodes: Path) -> None:
    """A compile box cannot open a device file, and has no group except its own."""
    script = f"ls {nodes} 2>&1 | grep -c such; grep Groups: /proc/self/status | grep -c {RENDER_GROUP}; true"
    assert harness.lines(harness.shell(script)) == ["1", "0"]


def test_a_box_with_devices_may_reserve_addresses(harness: SandboxHarness, nodes: Path) -> None:
    """A GPU's runtime maps all device memory; the limit of the box counts only resident memory."""
    script = "ulimit -v"
    template = harness.template(("/bin/sh", "-c", script), devices=(str(nodes / "kfd"),))
    assert harness.lines(template) == ["unlimited"]
