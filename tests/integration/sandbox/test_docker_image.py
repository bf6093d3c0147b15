"""Docker boxes with an image: directories that the image contains are not mounted from the host."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.boxes import LIMITS
from warmfront.errors import SandboxFailed
from warmfront.sandbox import DOCKER, open_sandbox
from warmfront.sandbox.base import Mount, Template
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE = "warmfront-test-compiler:1"
#: A path that exists in the image only, as ROCm does on a VM: its host has no ROCm.
IN_IMAGE = Path("/opt/compiler-of-the-image")
SOURCE = '#include <stdio.h>\nint main(void) { puts("from the image"); return 0; }\n'
TEMPLATE = Template(
    name="test",
    argv=(str(IN_IMAGE / "bin" / "compiler"),),
    mounts=(Mount(host=IN_IMAGE, inside=str(IN_IMAGE)),),
    limits=LIMITS,
)


@pytest.fixture(name="image")
def _image(docker_url: str, tmp_path: Path) -> Iterator[str]:
    """An image with one program."""
    program = tmp_path / "compiler"
    subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", str(program)], input=SOURCE.encode(), check=True)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(program, arcname=f".{TEMPLATE.argv[0]}")
    api = connect(docker_url)
    api.import_image_from_data(data.getvalue(), *IMAGE.split(":"))
    yield IMAGE
    api.remove_image(IMAGE)
    api.close()


@pytest.mark.compiler
def test_directories_of_the_image_are_not_mounted(docker_url: str, image: str, tmp_path: Path) -> None:
    """A box uses the image's own files; without the setting, Docker looks for them on the host."""
    sandbox = open_sandbox(DOCKER, base=tmp_path, image=image, image_dirs=[IN_IMAGE], url=docker_url)
    with sandbox.take(TEMPLATE) as box:
        box.go()
        assert box.wait().output == b"from the image\n"
    sandbox.close()
    sandbox = open_sandbox(DOCKER, base=tmp_path, image=image, url=docker_url)
    with pytest.raises(SandboxFailed, match=str(IN_IMAGE)), sandbox.take(TEMPLATE) as box:
        box.go()
    sandbox.close()
