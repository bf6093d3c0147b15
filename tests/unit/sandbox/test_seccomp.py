"""The system call filter, executed by a small BPF interpreter for both architectures."""

from __future__ import annotations

import errno
import itertools
import re
import struct
import subprocess

import pytest

from warmfront.sandbox import seccomp
from warmfront.sandbox.seccomp import AARCH64, ALLOW, ERRNO, KILL_PROCESS, X86_64, Architecture
from warmfront.sandbox.syscalls import CLONE_NAMESPACES, CLONE_THREAD, TIOCSTI, Denial

EPERM = ERRNO | errno.EPERM
ENOSYS = ERRNO | errno.ENOSYS

each_architecture = pytest.mark.parametrize(
    "architecture", [X86_64, AARCH64], ids=lambda architecture: architecture.name
)

#: System calls that every program needs, with their numbers on each architecture.
HARMLESS = {
    "read": (0, 63),
    "write": (1, 64),
    "mmap": (9, 222),
    "execve": (59, 221),
    "memfd_create": (319, 279),
}


def filter_action(
    architecture: Architecture,
    number: int,
    arguments: tuple[int, ...] = (),
    *,
    may_fork: bool = True,
    audit: int | None = None,
) -> int:
    """Return the action of the filter for one system call."""
    program = list(struct.iter_unpack("=HBBI", seccomp.bpf(architecture, may_fork=may_fork)))
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, audit or architecture.audit, 0, *padded)
    accumulator = at = 0
    while at < len(program):
        code, if_true, if_false, operand = program[at]
        at += 1
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif code == seccomp.AND:
            accumulator &= operand
        elif code == seccomp.JUMP_IF_EQUAL:
            at += if_true if accumulator == operand else if_false
        elif code == seccomp.JUMP_IF_ANY_BIT:
            at += if_true if accumulator & operand else if_false
        elif code == seccomp.RETURN:
            return int(operand)
    raise AssertionError("the program does not return")


def number_of(name: str, architecture: Architecture) -> int:
    """Return the number of a denied call."""
    for denial in seccomp.denials(may_fork=False):
        if name in denial.calls:
            number = denial.calls[name][architecture.column]
            assert number is not None
            return number
    raise AssertionError(name)


def unconditional() -> list[tuple[Denial, str]]:
    """Return the calls that are denied regardless of their arguments."""
    return [
        (denial, name)
        for denial in seccomp.denials(may_fork=False)
        if not denial.when
        for name in denial.calls
    ]


@each_architecture
def test_denied_calls_fail_with_their_error(architecture: Architecture) -> None:
    """Every denied call of the architecture fails with its error."""
    for denial, name in unconditional():
        if denial.calls[name][architecture.column] is not None:
            action = filter_action(architecture, number_of(name, architecture), may_fork=False)
            assert action == ERRNO | denial.errno, name


@each_architecture
def test_all_other_calls_are_allowed(architecture: Architecture) -> None:
    """Every other call is allowed, with and without permission to fork."""
    denied = {
        numbers[architecture.column]
        for row in seccomp.denials(may_fork=False)
        for numbers in row.calls.values()
    }
    assert all(
        filter_action(architecture, number, may_fork=may_fork) == ALLOW
        for number, may_fork in itertools.product(range(470), (True, False))
        if number not in denied
    )
    assert not denied & {numbers[architecture.column] for numbers in HARMLESS.values()}


@each_architecture
def test_another_architecture_is_killed(architecture: Architecture) -> None:
    """A call of another architecture kills the process, even if its number looks harmless."""
    for audit in (0x4000_0003, X86_64.audit, AARCH64.audit):  # the first is i386
        if audit != architecture.audit:
            assert filter_action(architecture, 0, audit=audit) == KILL_PROCESS


def test_x32_is_killed() -> None:
    """x32 calls, which report the architecture x86-64 but have other numbers, kill the process."""
    assert filter_action(X86_64, seccomp.X32_BIT | 0) == KILL_PROCESS


@each_architecture
@pytest.mark.parametrize("flag", CLONE_NAMESPACES, ids=hex)
def test_clone_cannot_create_a_namespace(architecture: Architecture, flag: int) -> None:
    """clone() with a namespace flag is denied, whatever the other flags."""
    clone = number_of("clone", architecture)
    assert filter_action(architecture, clone, (flag,)) == EPERM
    assert filter_action(architecture, clone, (flag | CLONE_THREAD | 17,)) == EPERM


@each_architecture
def test_threads_are_allowed_without_permission_to_fork(architecture: Architecture) -> None:
    """A program that may not fork can create threads; one that may fork can create both."""
    clone = number_of("clone", architecture)
    assert filter_action(architecture, clone, (CLONE_THREAD,), may_fork=False) == ALLOW
    assert filter_action(architecture, clone, (17,), may_fork=False) == EPERM
    assert filter_action(architecture, clone, (17,), may_fork=True) == ALLOW


@each_architecture
def test_clone3_returns_enosys(architecture: Architecture) -> None:
    """clone3, whose flags a filter cannot read, returns ENOSYS, so that libc uses clone."""
    assert filter_action(architecture, number_of("clone3", architecture)) == ENOSYS


@each_architecture
def test_a_condition_does_not_affect_later_rules(architecture: Architecture) -> None:
    """Only the ioctl requests that insert terminal input are denied."""
    ioctl = number_of("ioctl", architecture)
    assert filter_action(architecture, ioctl, (0, TIOCSTI)) == EPERM
    assert filter_action(architecture, ioctl, (0, TIOCSTI | 1 << 32)) == EPERM  # the kernel reads 32 bits
    assert filter_action(architecture, ioctl, (TIOCSTI, 0)) == ALLOW


@pytest.mark.parametrize(
    ("header", "column"), [("asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)], ids=["x86_64", "aarch64"]
)
def test_numbers_match_the_headers(header: str, column: int) -> None:
    """The numbers in the table match the headers of the system."""
    source = f"#define __ARCH_WANT_SYS_CLONE3\n#include <{header}>\n"
    command = ["gcc", "-E", "-dM", "-"]
    macros = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    numbers = {name: int(value) for name, value in re.findall(r"#define __NR_(\w+) (\d+)\n", macros)}
    for denial in seccomp.denials(may_fork=False):
        for name, columns in denial.calls.items():
            assert columns[column] == numbers.get(name), name


@pytest.mark.parametrize("may_fork", [True, False])
def test_docker_gets_the_same_table(may_fork: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """The Docker profile allows by default and denies each call, with its error and condition."""
    profile = seccomp.docker_profile(may_fork=may_fork)
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert profile["architectures"] == [seccomp.host_architecture().docker]
    rows = [(rule["names"], rule["errnoRet"], len(rule.get("args", ()))) for rule in profile["syscalls"]]
    table = [
        (list(denial.calls), denial.errno, 1 if denial.when else 0)
        for denial in seccomp.denials(may_fork=may_fork)
    ]
    assert rows == table
