"""The system call filter, executed by a small BPF interpreter for both architectures."""

from __future__ import annotations

import errno
import re
import struct
import subprocess

import pytest

from warmfront.sandbox import seccomp
from warmfront.sandbox.seccomp import AARCH64, ALLOW, ERRNO, KILL_PROCESS, X86_64, Architecture
from warmfront.sandbox.syscalls import CLONE_NAMESPACES, CLONE_THREAD, PROBED

TIOCSTI = 0x5412  #: inserts a character into a terminal's input

EPERM = ERRNO | errno.EPERM
ENOSYS = ERRNO | errno.ENOSYS

each_architecture = pytest.mark.parametrize(
    "architecture", [X86_64, AARCH64], ids=lambda architecture: architecture.name
)

#: Calls that no box may use, with their numbers on each architecture.
DANGEROUS: dict[str, tuple[int, int | None]] = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "timer_create": (222, 107),
    "mq_notify": (244, 184),
    "mq_open": (240, 180),
    "shmget": (29, 194),
    "clock_settime": (227, 112),
    "settimeofday": (164, 170),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "reboot": (169, 142),
    "mknodat": (259, 33),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "iopl": (172, None),
    "modify_ldt": (154, None),
}


def filter_action(
    architecture: Architecture,
    number: int,
    arguments: tuple[int, ...] = (),
    *,
    may_fork: bool = True,
    has_devices: bool = False,
    audit: int | None = None,
) -> int:
    """Return the action of the filter for one system call."""
    code = seccomp.bpf(architecture, may_fork=may_fork, has_devices=has_devices)
    program = list(struct.iter_unpack("=HBBI", code))
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
    """Return the number of a call in the table."""
    for allowance in seccomp.allowances(may_fork=True, has_devices=True):
        if name in allowance.calls:
            number = allowance.calls[name][architecture.column]
            assert number is not None
            return number
    raise AssertionError(name)


@each_architecture
@pytest.mark.parametrize("may_fork", [True, False])
def test_what_is_not_allowed_fails(architecture: Architecture, *, may_fork: bool) -> None:
    """Every call of the table is allowed, those that libraries probe do not exist, and all others fail."""
    table = seccomp.allowances(may_fork=may_fork)
    allowed = {n[architecture.column] for row in table if not row.when for n in row.calls.values()}
    probed = {numbers[architecture.column] for numbers in PROBED.values()}
    restricted = {n[architecture.column] for row in table if row.when for n in row.calls.values()}
    assert not allowed & (probed | restricted)
    for number in set(range(600)) - restricted:
        expected = ALLOW if number in allowed else ENOSYS if number in probed else EPERM
        assert filter_action(architecture, number, may_fork=may_fork) == expected, number


@each_architecture
def test_dangerous_calls_are_not_in_the_table(architecture: Architecture) -> None:
    """Calls with which a program could leave its box, or disturb the judge, fail in every box."""
    for name, numbers in DANGEROUS.items():
        if (number := numbers[architecture.column]) is not None:
            assert filter_action(architecture, number) == EPERM, name


@each_architecture
def test_a_gpu_needs_more(architecture: Architecture) -> None:
    """With a GPU, the requests to its driver and memfd_create are allowed, and still no others."""
    memfd = number_of("memfd_create", architecture)
    ioctl = number_of("ioctl", architecture)
    for has_devices, expected in ((True, ALLOW), (False, EPERM)):
        assert filter_action(architecture, memfd, has_devices=has_devices) == expected
        for request in (0xC020_4B01, 0xC048_64B2):  # of the types of /dev/kfd and /dev/dri
            assert filter_action(architecture, ioctl, (3, request), has_devices=has_devices) == expected
        assert filter_action(architecture, ioctl, (3, TIOCSTI), has_devices=has_devices) == EPERM


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
def test_arguments_decide(architecture: Architecture) -> None:
    """Of calls with many functions, only harmless ones are allowed."""
    cases = [
        ("ioctl", (0, 0x5401), ALLOW),  # is it a terminal?
        ("ioctl", (0, TIOCSTI), EPERM),
        ("ioctl", (0, TIOCSTI | 1 << 32), EPERM),  # the kernel reads 32 bits
        ("ioctl", (0x5401, 0), EPERM),
        ("fcntl", (0, 3), ALLOW),  # F_GETFL
        ("fcntl", (0, 10), EPERM),  # F_SETSIG
        ("fcntl", (0, 8), EPERM),  # F_SETOWN
        ("prctl", (15,), ALLOW),  # PR_SET_NAME
        ("prctl", (59,), EPERM),  # PR_SET_SYSCALL_USER_DISPATCH
        ("personality", (0xFFFF_FFFF,), ALLOW),
        ("personality", (0x0040_0000,), EPERM),  # READ_IMPLIES_EXEC
    ]
    for name, arguments, expected in cases:
        assert filter_action(architecture, number_of(name, architecture), arguments) == expected, name


@pytest.mark.parametrize(
    ("header", "column"), [("asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)], ids=["x86_64", "aarch64"]
)
def test_numbers_match_the_headers(header: str, column: int) -> None:
    """The numbers in the table match the headers of the system."""
    wanted = ("SYS_CLONE3", "NEW_STAT", "RENAMEAT", "SET_GET_RLIMIT", "TIME32_SYSCALLS", "MEMFD_SECRET")
    source = "".join(f"#define __ARCH_WANT_{name}\n" for name in wanted)
    source += f"#define __BITS_PER_LONG 64\n#include <{header}>\n"
    command = ["gcc", "-E", "-dM", "-"]
    macros = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    values: dict[str, str] = dict(re.findall(r"#define (__NR\w+) (\w+)\n", macros))
    calls = {**DANGEROUS, **PROBED}
    for allowance in seccomp.allowances(may_fork=True, has_devices=True):
        calls |= allowance.calls
    for name, columns in calls.items():
        value = values.get(f"__NR_{name}")
        if value is None and max(number or 0 for number in columns) >= 451:
            continue  # it is newer than the headers
        number = int(values.get(value, value)) if value else None
        assert columns[column] == number, name


@pytest.mark.parametrize("may_fork", [True, False])
def test_docker_gets_the_same_table(*, may_fork: bool) -> None:
    """The Docker profile denies by default and allows each call under its conditions."""
    profile = seccomp.docker_profile(may_fork=may_fork)
    assert (profile["defaultAction"], profile["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", errno.EPERM)
    assert profile["architectures"] == [seccomp.host_architecture().docker]
    *allowed, probed = profile["syscalls"]
    assert (probed["names"], probed["errnoRet"]) == (list(PROBED), errno.ENOSYS)
    assert {rule["action"] for rule in allowed} == {"SCMP_ACT_ALLOW"}
    rows = [(rule["names"], rule["args"][0]["valueTwo"] if "args" in rule else None) for rule in allowed]
    table = [
        (list(allowance.calls), condition.value if condition else None)
        for allowance in seccomp.allowances(may_fork=may_fork)
        for condition in allowance.when or (None,)
    ]
    assert rows == table
