"""Build the image of VMs with Docker: lock its base images, build it, push it, and report its size.

The image contains everything that a listener needs, so that a VM does not install anything when it starts.
Its base images are named by the digests in `deploy/images.toml`, which `image_registry` looks up. This module
runs the `docker` command and no other program.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import __version__, gpus
from warmfront.errors import BadSetting, InfrastructureError, UsageError
from warmfront.providers.dstack import listener_bundle
from warmfront.providers.dstack.image_registry import look_up_digest
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOCK = Path("deploy/images.toml")
CONTEXT = Path("deploy/vm")
REQUIREMENTS = Path("src/warmfront/listener/requirements.txt")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
#: The base images of the Dockerfile, and their build arguments.
_BASES = {"rocm": "ROCM_IMAGE", "ubuntu": "UBUNTU_IMAGE"}
#: Parts of the image whose sizes are reported.
_PARTS = (
    ("ROCm: HIP's compiler and runtime", "/opt/rocm/"),
    ("Python packages", f"{listener_bundle.IMAGE_FOLDER}/venv"),
    ("guest and harness, per GPU architecture", f"{listener_bundle.IMAGE_FOLDER}/cache"),
)


@dataclass(frozen=True, kw_only=True)
class BaseImage:
    """A base image of the lock file."""

    name: str  #: such as `rocm`
    image: str  #: with a tag
    digest: str  #: empty until it is looked up

    @property
    def pinned(self) -> str:
        """The name with tag and digest."""
        return f"{self.image}@{self.digest}" if self.digest else self.image


@dataclass(frozen=True, kw_only=True)
class PartSize:
    """The size of the image or of a part of it, uncompressed."""

    name: str
    size_bytes: int


def supported_archs() -> tuple[str, ...]:
    """Return the architectures for which the image can compile: those of the GPU catalog."""
    return tuple(sorted({gpu.arch for gpu in gpus.CATALOG}))


def read_lock(root: Path) -> dict[str, BaseImage]:
    """Return the base images.

    Raises:
        UsageError: `root` is not the root directory of the repository.
        BadSetting: The file is malformed.
    """
    path = root / LOCK
    if not path.is_file():
        raise UsageError(
            f"{path} does not exist.", hint="Run this command in the root directory of the repository."
        )
    try:
        content = tomllib.loads(path.read_text())
        bases = {
            name: BaseImage(name=name, image=content[name]["image"], digest=content[name]["digest"])
            for name in _BASES
        }
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error!r}.",
            hint=f"It needs the sections {', '.join(_BASES)}, each with `image` and `digest`.",
        ) from None
    for base in bases.values():
        if base.digest and not _DIGEST.fullmatch(base.digest):
            raise BadSetting(
                f"{path}: digest of [{base.name}] is {base.digest!r}, which is not sha256: and 64 digits.",
                hint="`warmfront image lock` looks it up and writes it.",
            )
    return bases


def lock(root: Path) -> list[BaseImage]:
    """Look up the base images in their registries, and write their digests to the lock file.

    Raises:
        InfrastructureError: A registry does not respond, or does not have the image.
    """
    locked = [replace(base, digest=look_up_digest(base.image)) for base in read_lock(root).values()]
    text = (root / LOCK).read_text()
    for base in locked:
        section = rf'(\[{base.name}\]\nimage = "{re.escape(base.image)}"\ndigest = ")[^"]*"'
        text, count = re.subn(section, rf'\g<1>{base.digest}"', text)
        if not count:
            raise BadSetting(
                f"{root / LOCK}: [{base.name}] must have a line `image = …` and then a line `digest = …`."
            )
    (root / LOCK).write_text(text)
    return locked


def image_name(repository: str | None, root: Path) -> str:
    """Return the name of the image with its tag, which contains our version and ROCm's.

    Raises:
        BadSetting: No repository is set.
    """
    if not repository:
        raise BadSetting(
            "WARMFRONT_IMAGE_REPOSITORY is not set: there is no registry to push the image to.",
            hint="Set it to a repository that you may push to, such as ghcr.io/you/warmfront-vm.",
        )
    rocm = read_lock(root)["rocm"].image.rpartition(":")[2]
    return f"{repository}:{__version__}-rocm{rocm}"


def build(
    root: Path, name: str, *, cache_dir: Path, allow_unpinned: bool = False, wheels: Path | None = None
) -> list[PartSize]:
    """Build the image and return its size and the sizes of its parts.

    Args:
        root: The root directory of the repository.
        name: The name of the image, with a tag.
        cache_dir: The directory for the listener bundle.
        allow_unpinned: Accept base images without a digest.
        wheels: A folder with the Python packages; by default pip downloads them. Their hashes are checked.

    Raises:
        BadSetting: A base image has no digest.
        InfrastructureError: The build failed.
    """
    bases = read_lock(root)
    for base in bases.values():
        if not base.digest and not allow_unpinned:
            raise BadSetting(
                f"{LOCK}: digest of [{base.name}] is empty, but the tag of {base.image} can be moved.",
                hint="`warmfront image lock` looks it up and writes it; --allow-unpinned builds without it.",
            )
    bundle = listener_bundle.pack(cache_dir, with_problems=False)
    arguments = {
        **{argument: bases[base].pinned for base, argument in _BASES.items()},
        "ARCHS": " ".join(supported_archs()),
        "LISTENER": bundle.name,
        "OFFLINE": "yes" if wheels else "",
    }
    with _context(root, bundle, wheels) as context:
        options = [part for pair in arguments.items() for part in ("--build-arg", "=".join(pair))]
        _docker("build", "--tag", name, *options, str(context))
    return sizes(name)


def sizes(name: str) -> list[PartSize]:
    """Return the uncompressed size of the image, and of its parts."""
    total = PartSize(
        name="image", size_bytes=int(_docker_output("image", "inspect", "--format", "{{.Size}}", name))
    )
    command = "; ".join(f"du -sk {path} | cut -f1" for _, path in _PARTS)
    run = ("run", "--rm", "--network", "none", "--entrypoint", "/bin/sh", name, "-c", command)
    kilobytes = _docker_output(*run).split()
    parts = [
        PartSize(name=part, size_bytes=int(size) << 10)
        for (part, _), size in zip(_PARTS, kilobytes, strict=True)
    ]
    return [total, *parts]


def push(name: str) -> str:
    """Push the image and return its name with its digest.

    Raises:
        InfrastructureError: The image does not exist, or the registry does not accept it.
    """
    _docker("push", name)
    return f"{name}@{_repository_digest(name)}"


@contextmanager
def _context(root: Path, bundle: Path, wheels: Path | None) -> Iterator[Path]:
    """Prepare the folder that Docker builds from; no other files of the repository are sent to Docker."""
    with tempfile.TemporaryDirectory(prefix="warmfront-image-") as folder:
        context = Path(folder)
        for path in (root / CONTEXT).iterdir():
            shutil.copy(path, context)
        shutil.copy(root / REQUIREMENTS, context / "requirements.txt")
        shutil.copytree(bundle, context / "listener" / bundle.name)
        if wheels is not None:
            shutil.copytree(wheels, context / "wheels")
        yield context


def _repository_digest(name: str) -> str:
    """Return the registry's digest of an image that was just pushed."""
    repository = name.rpartition(":")[0]
    digests = json.loads(_docker_output("image", "inspect", "--format", "{{json .RepoDigests}}", name))
    for entry in digests or ():
        known, _, digest = entry.partition("@")
        if _same_repository(known, repository):
            return str(digest)
    raise InfrastructureError(f"Docker reports no digest of {name}; it has {digests}.")


def _same_repository(first: str, second: str) -> bool:
    """Return whether two names refer to the same repository; names on Docker Hub may be abbreviated."""
    prefixes = ("docker.io/library/", "docker.io/", "library/")

    def short(name: str) -> str:
        return next((name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)), name)

    return short(first) == short(second)


def _docker(*arguments: str) -> None:
    """Run docker, and show its output to the user on standard error."""
    done = _run(arguments, {"stdout": sys.stderr})
    if done.returncode:
        raise InfrastructureError(
            f"`docker {arguments[0]}` failed with exit code {done.returncode}.",
            hint="Docker's message is above.",
        )


def _docker_output(*arguments: str) -> str:
    done = _run(arguments, {"capture_output": True})
    if done.returncode:
        raise InfrastructureError(f"`docker {arguments[0]}` failed: {done.stderr.strip()}")
    return str(done.stdout).strip()


def _run(arguments: tuple[str, ...], options: Mapping[str, object]) -> subprocess.CompletedProcess[str]:
    if shutil.which("docker") is None:
        raise InfrastructureError(
            "The `docker` command is not installed.",
            hint="Install Docker, such as `apt-get install docker.io`.",
        )
    return subprocess.run(["docker", *arguments], text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]  # options of run
