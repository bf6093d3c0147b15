"""The filter of system calls, run on a small machine of our own for both architectures."""

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

each_architecture = pytest.mark.parametrize("architecture", [X86_64, AARCH64], ids=lambda one: one.name)

#: What every program calls, by its number on each architecture.
HARMLESS = {
    "read": (0, 63),
    "write": (1, 64),
    "mmap": (9, 222),
    "execve": (59, 221),
    "memfd_create": (319, 279),
}


def verdict(
    architecture: Architecture,
    number: int,
    arguments: tuple[int, ...] = (),
    *,
    may_fork: bool = True,
    audit: int | None = None,
) -> int:
    """What the kernel would be told for one system call."""
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
    raise AssertionError("the program has no end")


def number_of(name: str, architecture: Architecture) -> int:
    """A denied call's number."""
    for denial in seccomp.denials(may_fork=False):
        if name in denial.calls:
            number = denial.calls[name][architecture.column]
            assert number is not None
            return number
    raise AssertionError(name)


def unconditional() -> list[tuple[Denial, str]]:
    """Every call that is denied whatever its arguments."""
    return [
        (denial, name)
        for denial in seccomp.denials(may_fork=False)
        if not denial.when
        for name in denial.calls
    ]


@each_architecture
def test_denied_calls_fail_with_their_error(architecture: Architecture) -> None:
    """Every call of the table that the architecture has fails with the error of its row."""
    for denial, name in unconditional():
        if denial.calls[name][architecture.column] is not None:
            found = verdict(architecture, number_of(name, architecture), may_fork=False)
            assert found == ERRNO | denial.errno, name


@each_architecture
def test_all_other_calls_are_allowed(architecture: Architecture) -> None:
    """A call whose number is not in the table is allowed, with or without the right to fork."""
    denied = {
        numbers[architecture.column]
        for row in seccomp.denials(may_fork=False)
        for numbers in row.calls.values()
    }
    assert all(
        verdict(architecture, number, may_fork=may_fork) == ALLOW
        for number, may_fork in itertools.product(range(470), (True, False))
        if number not in denied
    )
    assert not denied & {numbers[architecture.column] for numbers in HARMLESS.values()}


@each_architecture
def test_another_architecture_is_killed(architecture: Architecture) -> None:
    """A call by the numbers of another architecture ends the process, harmless as it looks."""
    for audit in (0x4000_0003, X86_64.audit, AARCH64.audit):  # the first is i386
        if audit != architecture.audit:
            assert verdict(architecture, 0, audit=audit) == KILL_PROCESS


def test_x32_is_killed() -> None:
    """The calls of x32, which pass for x86-64 but have other numbers, end the process."""
    assert verdict(X86_64, seccomp.X32_BIT | 0) == KILL_PROCESS


@each_architecture
@pytest.mark.parametrize("flag", CLONE_NAMESPACES, ids=hex)
def test_clone_makes_no_namespace(architecture: Architecture, flag: int) -> None:
    """Clone with the flag of any namespace is denied, whatever other flags come with it."""
    clone = number_of("clone", architecture)
    assert verdict(architecture, clone, (flag,)) == EPERM
    assert verdict(architecture, clone, (flag | CLONE_THREAD | 17,)) == EPERM


@each_architecture
def test_threads_are_allowed_where_processes_are_not(architecture: Architecture) -> None:
    """A program that may not fork may still make threads; one that may fork makes both."""
    clone = number_of("clone", architecture)
    assert verdict(architecture, clone, (CLONE_THREAD,), may_fork=False) == ALLOW
    assert verdict(architecture, clone, (17,), may_fork=False) == EPERM
    assert verdict(architecture, clone, (17,), may_fork=True) == ALLOW


@each_architecture
def test_clone3_seems_not_to_exist(architecture: Architecture) -> None:
    """clone3, whose flags a filter cannot see, answers ENOSYS, so that libc uses clone."""
    assert verdict(architecture, number_of("clone3", architecture)) == ENOSYS


@each_architecture
def test_a_condition_spoils_nothing_for_the_rules_after_it(architecture: Architecture) -> None:
    """An ioctl other than those that type into a terminal is allowed, and only those are denied."""
    ioctl = number_of("ioctl", architecture)
    assert verdict(architecture, ioctl, (0, TIOCSTI)) == EPERM
    assert verdict(architecture, ioctl, (0, TIOCSTI | 1 << 32)) == EPERM  # the kernel reads 32 bits
    assert verdict(architecture, ioctl, (TIOCSTI, 0)) == ALLOW


@pytest.mark.parametrize(
    ("header", "column"), [("asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)], ids=["x86_64", "aarch64"]
)
def test_numbers_are_those_of_the_headers(header: str, column: int) -> None:
    """The numbers of the table are those that the system's own headers give."""
    source = f"#define __ARCH_WANT_SYS_CLONE3\n#include <{header}>\n"
    command = ["gcc", "-E", "-dM", "-"]
    macros = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    numbers = {name: int(value) for name, value in re.findall(r"#define __NR_(\w+) (\d+)\n", macros)}
    for denial in seccomp.denials(may_fork=False):
        for name, columns in denial.calls.items():
            assert columns[column] == numbers.get(name), name


@pytest.mark.parametrize("may_fork", [True, False])
def test_docker_gets_the_same_table(may_fork: bool) -> None:  # noqa: FBT001  a parameter of the test
    """Docker's profile allows by default and has each denied call, with its error and its condition."""
    profile = seccomp.docker_profile(may_fork=may_fork)
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert profile["architectures"] == [seccomp.host_architecture().docker]
    rows = [(rule["names"], rule["errnoRet"], len(rule.get("args", ()))) for rule in profile["syscalls"]]
    table = [
        (list(denial.calls), denial.errno, 1 if denial.when else 0)
        for denial in seccomp.denials(may_fork=may_fork)
    ]
    assert rows == table
