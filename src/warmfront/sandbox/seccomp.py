"""The system call filter, rendered as a BPF program for bubblewrap and as a profile for Docker.

A program that uses the system calls of another architecture is killed, because the same numbers mean other
calls there.
"""

from __future__ import annotations

import functools
import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.errors import NoSandbox
from warmfront.sandbox.syscalls import ALWAYS, WITHOUT_FORK, Condition, Denial

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


def denials(*, may_fork: bool) -> tuple[Denial, ...]:
    """Return the denied system calls."""
    return ALWAYS if may_fork else ALWAYS + WITHOUT_FORK


@functools.cache
def bpf(architecture: Architecture, *, may_fork: bool) -> bytes:
    """Return the filter for the kernel: an array of struct sock_filter."""
    program = _instruction(LOAD, ARCHITECTURE_AT)
    program += _instruction(JUMP_IF_EQUAL, architecture.audit, if_true=1)
    program += _instruction(RETURN, KILL_PROCESS)
    program += _instruction(LOAD, NUMBER_AT)
    if architecture is X86_64:
        program += _instruction(JUMP_IF_ANY_BIT, X32_BIT, if_false=1)
        program += _instruction(RETURN, KILL_PROCESS)
    for denial in denials(may_fork=may_fork):
        for numbers in denial.calls.values():
            number = numbers[architecture.column]
            if number is not None:
                program += _deny(number, denial)
    return program + _instruction(RETURN, ALLOW)


def as_descriptor(*, may_fork: bool) -> int:
    """Return a descriptor from which the filter for this machine can be read."""
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, bpf(host_architecture(), may_fork=may_fork))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def docker_profile(*, may_fork: bool) -> dict[str, Any]:
    """Return the filter as a Docker profile, which also kills calls of other architectures."""
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [host_architecture().docker],
        "syscalls": list(_docker_rules(may_fork=may_fork)),
    }


def _docker_rules(*, may_fork: bool) -> Iterator[dict[str, Any]]:
    for denial in denials(may_fork=may_fork):
        rule = {"names": list(denial.calls), "action": "SCMP_ACT_ERRNO", "errnoRet": denial.errno}
        if denial.when:
            rule["args"] = [_docker_condition(denial.when)]
        yield rule


def _docker_condition(condition: Condition) -> dict[str, Any]:
    return {
        "index": condition.argument,
        "op": "SCMP_CMP_MASKED_EQ",
        "value": condition.mask,
        "valueTwo": condition.value,
    }


def _deny(number: int, denial: Denial) -> bytes:
    """Return an error for this call; other calls continue with the next rule."""
    body = _instruction(RETURN, ERRNO | denial.errno)
    if denial.when:
        body = _only_if(denial.when, body)
    return _instruction(JUMP_IF_EQUAL, number, if_false=_length(body)) + body


def _only_if(condition: Condition, body: bytes) -> bytes:
    """Execute `body` if the condition holds; otherwise reload the call's number for the next rule."""
    test = _instruction(LOAD, ARGUMENTS_AT + 8 * condition.argument)
    test += _instruction(AND, condition.mask)
    test += _instruction(JUMP_IF_EQUAL, condition.value, if_false=_length(body))
    return test + body + _instruction(LOAD, NUMBER_AT)


def _instruction(code: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _length(program: bytes) -> int:
    return len(program) // 8
