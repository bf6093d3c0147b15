"""`warmfront vm`, `intake` and `limits`: control a running service, after a confirmation with the amounts."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmfront import values
from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.server_access import with_client
from warmfront.errors import BadRequest, NotConfirmed, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.client import AsyncClient, IntakeState, Limits, Vm

_MAX_PIN_S = 30 * 86400
#: How the intake can be paused.
_PAUSES = ("queue", "refuse")


def act_on_vm(action: str, prefix: str, *, pin_for: str | None = None, yes: bool, as_json: bool) -> int:
    """Release, drain, pin or unpin a VM."""

    async def work(client: AsyncClient) -> int:
        until = None if pin_for is None else _iso(time.time() + _pin_s(pin_for))
        vm_id = await _find_vm(client, prefix)
        effects = await client.vm_actions(vm_id, pin_until=until)
        text = next((effect.text for effect in effects if effect.action == f"vm.{action}"), "")
        confirm(f"{action.capitalize()} VM {vm_id}?", [text] if text else [], yes=yes)
        if until is not None:
            vm = await client.pin_vm(vm_id, until)
        else:
            vm = await client.act_on_vm(vm_id, action)
        if as_json:
            print_json(vm.to_json())
        else:
            print(_vm_line(vm))
        return 0

    return with_client(work, as_json=as_json)


def show_intake(*, as_json: bool) -> int:
    """Print whether submissions are accepted and run."""

    async def work(client: AsyncClient) -> int:
        _print_intake(await client.intake(), as_json=as_json)
        return 0

    return with_client(work, as_json=as_json)


def pause_intake(mode: str, reason: str, *, yes: bool, as_json: bool) -> int:
    """Pause the intake."""

    async def work(client: AsyncClient) -> int:
        if mode not in _PAUSES:
            raise BadRequest(f"--mode is {mode!r}.", hint=f"Use one of: {', '.join(_PAUSES)}.")
        pause, _ = await client.intake_actions(mode)
        confirm("Pause the intake?", [pause.text], yes=yes)
        _print_intake(await client.pause_intake(mode, reason), as_json=as_json)
        return 0

    return with_client(work, as_json=as_json)


def resume_intake(*, yes: bool, as_json: bool) -> int:
    """Resume the intake."""

    async def work(client: AsyncClient) -> int:
        _, resume = await client.intake_actions()
        confirm("Resume the intake?", [resume.text], yes=yes)
        _print_intake(await client.resume_intake(), as_json=as_json)
        return 0

    return with_client(work, as_json=as_json)


def show_limits(*, as_json: bool) -> int:
    """Print the limits that can be changed at run time."""

    async def work(client: AsyncClient) -> int:
        _print_limits(await client.limits(), as_json=as_json)
        return 0

    return with_client(work, as_json=as_json)


def change_limits(
    assignments: Sequence[str], *, reason: str, reset: bool = False, yes: bool, as_json: bool
) -> int:
    """Change limits, given as NAME=VALUE; with `reset`, restore the configured values of names."""

    async def work(client: AsyncClient) -> int:
        changes = dict.fromkeys(assignments) if reset else _parse_assignments(assignments)
        preview = await client.change_limits(changes, dry_run=True)
        confirm("Change the limits?", [effect.text for effect in preview.effects], yes=yes)
        _print_limits(await client.change_limits(changes, reason=reason), as_json=as_json)
        return 0

    return with_client(work, as_json=as_json)


def _parse_assignments(assignments: Sequence[str]) -> Mapping[str, str | None]:
    changes: dict[str, str | None] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not value:
            raise BadRequest(
                f"{assignment!r} is not a change; allowed: NAME=VALUE, such as max_vms=2.",
                hint="`warmfront limits show` lists the names.",
            )
        changes[name.strip()] = value.strip()
    return changes


async def _find_vm(client: AsyncClient, prefix: str) -> str:
    """Return the id of a VM, or of the only recent VM whose id starts with the prefix."""
    ids = [vm.id for vm in await client.vms()]
    matches = [each for each in ids if each.startswith(prefix) or each.partition("_")[2].startswith(prefix)]
    if prefix in ids or not matches:
        return prefix
    if len(matches) > 1:
        raise UsageError(f"{prefix!r} is a prefix of {len(matches)} VMs.", hint="Give a longer prefix.")
    return matches[0]


def _pin_s(text: str) -> int:
    try:
        return values.duration(60, _MAX_PIN_S)(text)
    except ValueError:
        raise BadRequest(
            f"--for is {text!r}; allowed: a duration from 1m to 30d.", hint="Use, for example, --for 2h."
        ) from None


def confirm(question: str, effects: Sequence[str], *, yes: bool) -> None:
    """Show the effects and ask; without a terminal, require --yes."""
    if yes:
        return
    for effect in effects:
        print(effect, file=sys.stderr)
    if not sys.stdin.isatty():
        raise NotConfirmed("This action needs a confirmation, and there is no terminal.", hint="Pass --yes.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise NotConfirmed("Nothing was changed.")


def _vm_line(vm: Vm) -> str:
    facts = [vm.state.value]
    if vm.draining:
        facts.append("draining")
    if vm.pinned_until is not None:
        facts.append(f"pinned until {_iso(vm.pinned_until)}")
    return f"{vm.id}  {', '.join(facts)}"


def _print_intake(state: IntakeState, *, as_json: bool) -> None:
    if as_json:
        print_json(state.to_json())
    elif state.mode.value == "open":
        print("Submissions are accepted and run.")
    else:
        what = "Submissions wait" if state.mode.value == "queue" else "New submissions are refused"
        print(f"{what}, paused by {state.by}: {state.reason}")


def _print_limits(limits: Limits, *, as_json: bool) -> None:
    if as_json:
        print_json(limits.to_json())
        return
    rows = [
        (item.name, item.value, item.configured if item.changed else "", item.variable)
        for item in limits.items
    ]
    print_columns([("NAME", "VALUE", "CONFIGURED", "SETTING"), *rows])


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
