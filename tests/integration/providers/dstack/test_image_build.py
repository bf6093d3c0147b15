"""The image of VMs, built by Docker on substitutes for its base images, and used as on a VM."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import substitute_images
from warmfront.providers.dstack import configuration, listener_bundle, vm_image

#: Creates root file systems with a HIP compiler, imports them into Docker, and compiles.
pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.debootstrap]
ROOT = Path(__file__).parents[4]
IMAGE = "warmfront-vm:test"


@pytest.fixture(name="repository")
def _repository(tmp_path: Path) -> Path:
    """A copy of the files that the build reads, with the substitutes as base images."""
    root = tmp_path / "repository"
    shutil.copytree(ROOT / vm_image.CONTEXT, root / vm_image.CONTEXT)
    (root / vm_image.REQUIREMENTS).parent.mkdir(parents=True)
    shutil.copy(ROOT / vm_image.REQUIREMENTS, root / vm_image.REQUIREMENTS)
    bases = {"rocm": substitute_images.ROCM, "ubuntu": substitute_images.UBUNTU}
    lines = [f'[{name}]\nimage = "{image}"\ndigest = ""\n' for name, image in bases.items()]
    (root / vm_image.LOCK).write_text("\n".join(lines))
    return root


def test_the_image_has_all_that_a_vm_needs(
    docker_url: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task's first command finds everything, without a network, and the guest need not be built."""
    monkeypatch.setenv("DOCKER_HOST", docker_url)
    substitute_images.load(docker_url)
    wheels = substitute_images.python_wheels(tmp_path / "wheels", repository / vm_image.REQUIREMENTS)
    sizes = vm_image.build(
        repository, IMAGE, cache_dir=tmp_path / "cache", allow_unpinned=True, wheels=wheels
    )
    printed = {size.name: size.size_bytes for size in sizes}
    assert printed["image"] > printed["ROCm: HIP's compiler and runtime"] > 0
    print(*(f"{name}: {size / 1e6:,.0f} MB" for name, size in printed.items()), sep="\n")
    listener = " ".join((*listener_bundle.LISTENER, "--help"))
    archs = " ".join(vm_image.supported_archs())
    script = f"""
    set -e
    {configuration.PREPARE.read_text()}
    hipcc --version >/dev/null
    amdclang++ --version >/dev/null
    {listener} >/dev/null
    env -i /bin/sh -c 'warmfront doctor --gpu' >doctor.txt || [ $? = 1 ]
    grep '^no     /dev/kfd' doctor.txt >/dev/null
    python3 -c 'import docker, warmfront.listener.server; print(warmfront.__file__)'
    python3 -m warmfront.listener.prebuild "$WARMFRONT_CACHE_DIR" {archs}
    ls "$WARMFRONT_CACHE_DIR" | grep -c '^rocm-[0-9a-f]*$'
    ls /opt/warmfront-image/cache | grep -c '^rocm-[0-9a-f]*$'
    """
    bundle = listener_bundle.pack(tmp_path / "cache")
    (tmp_path / "home").mkdir()
    shutil.copytree(bundle, tmp_path / "home" / listener_bundle.FOLDER)
    done = subprocess.run(
        [
            *("docker", "run", "--rm", "--network", "none", "--env", f"WARMFRONT_WORKER_IMAGE={IMAGE}"),
            *("--volume", f"{tmp_path / 'home'}:/root", "--workdir", "/root", IMAGE, "/bin/sh", "-c", script),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    package, on_vm, in_image = done.stdout.split()
    assert package.startswith("/opt/warmfront-image/listener/")
    # Building again created nothing: the compiler's identity is that of the image's own build.
    assert on_vm == in_image == str(len(vm_image.supported_archs()))
