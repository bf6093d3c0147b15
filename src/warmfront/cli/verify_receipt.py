"""`warmfront verify` and `warmfront receipt`: verify a receipt offline, and download one.

Exit codes of `verify`: 0 valid, 1 refused, 2 usage error or unreadable file.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from warmfront import settings
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_json
from warmfront.cli.hints import cli_hint
from warmfront.errors import ReceiptRefused, UsageError, WarmfrontError
from warmfront.judge_request import read_source
from warmfront.receipts.key_files import key_from_json, read_key_file
from warmfront.receipts.keyring import local_public_keys
from warmfront.receipts.verification import (
    MAX_RECEIPT_BYTES,
    VerifiedReceipt,
    check_source,
    verify_receipt,
)
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warmfront.client import AsyncClient
    from warmfront.receipts.keyring import PublicKey

REFUSED = 1


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """The arguments of `warmfront verify`, as typed."""

    file: Path
    key: Path | None
    server: str | None
    source: Path | None


def verify(options: VerifyOptions, *, as_json: bool) -> int:
    """Verify a receipt, and print its facts or why it is refused."""
    try:
        data = _read(options.file)
        keys, origin = _known_keys(options)
        source = read_source(options.source) if options.source else None
        try:
            receipt = verify_receipt(data, keys)
            if source is not None:
                check_source(receipt, source)
        except ReceiptRefused as error:
            return _refuse(error, options.file, as_json=as_json)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print_json({"valid": True, "key_id": receipt.key.id, "key_from": origin, "receipt": receipt.body})
    else:
        for line in _summary(receipt, origin, source_checked=source is not None):
            print(_printable(line))
    return 0


def download(prefix: str, file: Path | None) -> int:
    """Print the receipt of a submission exactly as it was signed, or save it."""
    from warmfront.cli.local_receipts import save_receipt
    from warmfront.cli.server_access import find_submission, with_client

    async def work(client: AsyncClient) -> int:
        data = await client.receipt((await find_submission(client, prefix)).id)
        if file is not None:
            return save_receipt(file, data, 0)
        sys.stdout.buffer.write(data)
        return 0

    return with_client(work, as_json=False)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_RECEIPT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"The receipt {path} cannot be read: {error.strerror}.") from None


def _known_keys(options: VerifyOptions) -> tuple[list[PublicKey], str]:
    """Return the trusted keys, and a description of their source."""
    if options.key and options.server:
        raise UsageError("--key and --server are mutually exclusive.", hint="Give only one of them.")
    if options.key:
        return read_key_file(options.key), f"the key file {options.key}"
    if options.server:
        return asyncio.run(_fetch_keys(options.server)), f"the server {options.server}"
    return list(local_public_keys(settings.load().data_dir)), "this machine"


async def _fetch_keys(url: str) -> list[PublicKey]:
    from warmfront.client import AsyncClient

    async with AsyncClient(url) as client:
        return [key_from_json(key.to_json()) for key in await client.signing_keys()]


def _refuse(error: ReceiptRefused, file: Path, *, as_json: bool) -> int:
    if as_json:
        print_json({"valid": False, "code": error.code, "message": error.message, "hint": cli_hint(error)})
        return REFUSED
    print(f"REFUSED  {file}\n  {error.message}")
    if hint := cli_hint(error):
        print(f"  → {hint}")
    return REFUSED


def _summary(receipt: VerifiedReceipt, origin: str, *, source_checked: bool) -> Iterator[str]:
    body, key = receipt.body, receipt.key
    yield f"VALID  {body['problem']}, {body['dtype']}: {body['verdict']}"
    yield f"  time      {_time(body)}"
    for timing in body["timings"]:
        low, high = timing["ci"]
        yield f"            {timing['name']}: {timing['runtime_ms']:.4g} ms ({low:.4g} to {high:.4g})"
    for guarantee in body["missing_guarantees"]:
        yield f"  missing   {guarantee}"
    yield f"  machine   {_machine(body)}"
    yield f"  compiler  {body['compiler']}, in {body['sandbox']} ({body['sandbox_detail']})"
    yield f"  source    {body['source_sha256']}{' (the given file)' if source_checked else ''}"
    yield f"  library   {body['library_sha256']}"
    yield f"  revision  {body['problem_revision']} of the problem; Warmfront {body['warmfront']}"
    yield f"  seed      {body['seed']}, committed before the run"
    yield f"  judged    {_judged(body)}"
    retired = f", retired {_day(key.retired_at)}" if key.retired_at else ""
    yield f"  key       {key.id}{retired}; known from {origin}"


def _time(body: dict[str, Any]) -> str:
    low, high = body["avg_ci"]
    windows = sum(len(timing["windows"]) for timing in body["timings"])
    noisy = "; noisy: the machine was busy" if body["noisy"] else ""
    return (
        f"{body['avg_runtime_ms']:.4g} ms (95% interval {low:.4g} to {high:.4g}), "
        f"recomputed from {windows} windows{noisy}"
    )


def _machine(body: dict[str, Any]) -> str:
    machine = body["machine"]
    gpu = f"{machine['gpu']}, " if machine["gpu"] else ""
    runtime = "; on the CPU runtime, not a GPU" if body["simulated"] else ""
    return f"{gpu}{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}{runtime}"


def _judged(body: dict[str, Any]) -> str:
    submission = f", submission {body['submission_id']}" if body["submission_id"] else ", without a service"
    return f"{body['issued_at']}{submission}, ${body['cost_usd']:.6g}"


def _printable(line: str) -> str:
    """Replace control characters: the names of compilers and machines come from a VM."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
