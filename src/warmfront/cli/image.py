"""`warmfront image`: lock, build and push the image of VMs with `warmfront.providers.dstack.vm_image`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import settings as configured
from warmfront.cli.error_report import report_error
from warmfront.cli.formatting import print_columns
from warmfront.errors import WarmfrontError
from warmfront.providers.dstack import vm_image

if TYPE_CHECKING:
    from collections.abc import Callable


def lock() -> int:
    """Look up the digests of the base images and write them."""

    def work() -> None:
        print_columns([("IMAGE", "DIGEST"), *((base.image, base.digest) for base in vm_image.lock(Path()))])
        print(f"Written to {vm_image.LOCK}.\n  → warmfront image build")

    return _report_errors(work)


def build(repository: str | None, *, wheels: Path | None, allow_unpinned: bool) -> int:
    """Build the image and print its size."""

    def work() -> None:
        settings = configured.load()
        name = vm_image.image_name(repository or settings.image_repository, Path())
        sizes = vm_image.build(
            Path(), name, cache_dir=settings.cache_dir, allow_unpinned=allow_unpinned, wheels=wheels
        )
        print_columns(
            [
                ("PART", "SIZE, UNCOMPRESSED"),
                *((size.name, f"{size.size_bytes / 1e6:,.0f} MB") for size in sizes),
            ]
        )
        print(f"Built {name}.\n  → warmfront image push")

    return _report_errors(work)


def push(repository: str | None) -> int:
    """Push the image, and print on standard output only the setting that selects it."""

    def work() -> None:
        name = vm_image.image_name(repository or configured.load().image_repository, Path())
        print(f"WARMFRONT_WORKER_IMAGE={vm_image.push(name)}")

    return _report_errors(work)


def _report_errors(work: Callable[[], None]) -> int:
    try:
        work()
    except WarmfrontError as error:
        return report_error(error)
    return 0
