"""The system call filter, rendered as a BPF program for bubblewrap and as a profile for Docker.

Calls that the table does not allow fail with EPERM. A program that uses the system calls of another
architecture is killed, because there the same numbers mean different calls.
"""

from __future__ import annotations

import errno
import functools
import os
import struct
from typing import TYPE_CHECKING, Any

from warmfront.errors import NoSandbox
from warmfront.sandbox.syscalls import (
    ALWAYS,
    PROBED,
    PROBED_ERRNO,
    WITH_DEVICES,
    WITH_FORK,
    Allowance,
    Condition,
)
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

KILL_PROCESS = 0x8000_0000
ERRNO = 0x0005_0000
ALLOW = 0x7FFF_0000

# The instructions of classic BPF that the filter uses.
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
JUMP_IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_IF_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

# Offsets in struct seccomp_data. Arguments have 8 bytes, lower half first.
NUMBER_AT = 0
ARCHITECTURE_AT = 4
ARGUMENTS_AT = 16

#: Set in the number of every x32 call; x32 calls report the architecture x86-64.
X32_BIT = 0x4000_0000


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A CPU architecture that the filter supports."""

    name: str
    audit: int  #: AUDIT_ARCH_* of linux/audit.h
    docker: str
    column: int  #: index into the pairs of numbers in the table


X86_64 = Architecture(name="x86_64", audit=0xC000_003E, docker="SCMP_ARCH_X86_64", column=0)
AARCH64 = Architecture(name="aarch64", audit=0xC000_00B7, docker="SCMP_ARCH_AARCH64", column=1)


def host_architecture() -> Architecture:
    """Return the architecture of this machine."""
    for architecture in (X86_64, AARCH64):
        if os.uname().machine == architecture.name:
            return architecture
    raise NoSandbox(f"No seccomp filter for this architecture: {os.uname().machine}.")


def allowances(*, may_fork: bool, has_devices: bool = False) -> tuple[Allowance, ...]:
    """Return the allowed system calls."""
    return ALWAYS + (WITH_FORK if may_fork else ()) + (WITH_DEVICES if has_devices else ())


@functools.cache
def bpf(architecture: Architecture, *, may_fork: bool, has_devices: bool = False) -> bytes:
    """Return the filter for the kernel: an array of struct sock_filter."""
    program = _instruction(LOAD, ARCHITECTURE_AT)
    program += _instruction(JUMP_IF_EQUAL, architecture.audit, if_true=1)
    program += _instruction(RETURN, KILL_PROCESS)
    program += _instruction(LOAD, NUMBER_AT)
    if architecture is X86_64:
        program += _instruction(JUMP_IF_ANY_BIT, X32_BIT, if_false=1)
        program += _instruction(RETURN, KILL_PROCESS)
    for number, conditions in _conditions(architecture, may_fork=may_fork, has_devices=has_devices).items():
        body = _allow(conditions)
        program += _instruction(JUMP_IF_EQUAL, number, if_false=_length(body)) + body
    for numbers in PROBED.values():
        if (probed := numbers[architecture.column]) is not None:
            program += _instruction(JUMP_IF_EQUAL, probed, if_false=1)
            program += _instruction(RETURN, ERRNO | PROBED_ERRNO)
    return program + _instruction(RETURN, ERRNO | errno.EPERM)


def as_descriptor(*, may_fork: bool, has_devices: bool = False) -> int:
    """Return a descriptor from which the filter for this machine can be read."""
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, bpf(host_architecture(), may_fork=may_fork, has_devices=has_devices))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def docker_profile(*, may_fork: bool, has_devices: bool = False) -> dict[str, Any]:
    """Return the filter as a Docker profile. It also kills programs that use calls of other architectures."""
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "architectures": [host_architecture().docker],
        "syscalls": list(_docker_rules(may_fork=may_fork, has_devices=has_devices)),
    }


def _docker_rules(*, may_fork: bool, has_devices: bool) -> Iterator[dict[str, Any]]:
    for allowance in allowances(may_fork=may_fork, has_devices=has_devices):
        rule: dict[str, Any] = {"names": list(allowance.calls), "action": "SCMP_ACT_ALLOW"}
        if not allowance.when:
            yield rule
        for condition in allowance.when:
            yield {**rule, "args": [_docker_condition(condition)]}
    yield {"names": list(PROBED), "action": "SCMP_ACT_ERRNO", "errnoRet": PROBED_ERRNO}


def _docker_condition(condition: Condition) -> dict[str, Any]:
    return {
        "index": condition.argument,
        "op": "SCMP_CMP_MASKED_EQ",
        "value": condition.mask,
        "valueTwo": condition.value,
    }


def _conditions(
    architecture: Architecture, *, may_fork: bool, has_devices: bool
) -> dict[int, tuple[Condition, ...]]:
    """Return the conditions under which each call is allowed, by number; no condition means always."""
    conditions: dict[int, tuple[Condition, ...]] = {}
    for allowance in allowances(may_fork=may_fork, has_devices=has_devices):
        for numbers in allowance.calls.values():
            if (number := numbers[architecture.column]) is not None:
                conditions[number] = conditions.get(number, ()) + allowance.when
    return conditions


def _allow(conditions: tuple[Condition, ...]) -> bytes:
    """Return the decision about one call: allowed if there is no condition or one of them holds."""
    if not conditions:
        return _instruction(RETURN, ALLOW)
    body = b""
    for condition in conditions:
        body += _instruction(LOAD, ARGUMENTS_AT + 8 * condition.argument)
        body += _instruction(AND, condition.mask)
        body += _instruction(JUMP_IF_EQUAL, condition.value, if_false=1)
        body += _instruction(RETURN, ALLOW)
    return body + _instruction(RETURN, ERRNO | errno.EPERM)


def _instruction(code: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _length(program: bytes) -> int:
    return len(program) // 8
