"""The denied system calls, which neither kernels nor compilers need, with the reason per group.

`seccomp.py` turns this table into a filter. The numbers are for x86-64 and aarch64.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

CLONE_THREAD = 0x0001_0000
#: New mount, cgroup, uts, ipc, user, pid and network namespaces.
CLONE_NAMESPACES = (0x0002_0000, *(1 << bit for bit in range(25, 31)))

TIOCSTI = 0x5412  #: inserts a character into a terminal's input
TIOCLINUX = 0x541C  #: pastes into a console's input


@dataclass(frozen=True, kw_only=True)
class Condition:
    """True if the masked argument equals the value."""

    argument: int
    mask: int
    value: int


@dataclass(frozen=True, kw_only=True)
class Denial:
    """System calls that fail with `errno`, always or if the condition holds."""

    reason: str
    calls: dict[
        str, tuple[int, int | None]
    ]  #: number on x86-64, and on aarch64 (None if it does not exist there)
    errno: int = errno.EPERM
    when: Condition | None = None


CLONE: dict[str, tuple[int, int | None]] = {"clone": (56, 220)}

ALWAYS = (
    Denial(
        reason="no network and no other sockets",
        calls={
            "socket": (41, 198),
            "socketpair": (53, 199),
            "connect": (42, 203),
            "bind": (49, 200),
            "listen": (50, 201),
            "accept": (43, 202),
            "accept4": (288, 242),
            "sendto": (44, 206),
            "recvfrom": (45, 207),
            "sendmsg": (46, 211),
            "recvmsg": (47, 212),
            "sendmmsg": (307, 269),
            "recvmmsg": (299, 243),
            "shutdown": (48, 210),
            "getsockname": (51, 204),
            "getpeername": (52, 205),
            "setsockopt": (54, 208),
            "getsockopt": (55, 209),
        },
    ),
    Denial(
        reason="reads or controls another process",
        calls={
            "ptrace": (101, 117),
            "process_vm_readv": (310, 270),
            "process_vm_writev": (311, 271),
            "process_madvise": (440, 440),
            "kcmp": (312, 272),
            "pidfd_getfd": (438, 438),
        },
    ),
    Denial(
        reason="changes the view of the file system",
        calls={
            "mount": (165, 40),
            "umount2": (166, 39),
            "pivot_root": (155, 41),
            "chroot": (161, 51),
            "open_tree": (428, 428),
            "move_mount": (429, 429),
            "fsopen": (430, 430),
            "fsconfig": (431, 431),
            "fsmount": (432, 432),
            "fspick": (433, 433),
            "mount_setattr": (442, 442),
        },
    ),
    Denial(
        reason="a new namespace gives new privileges in it",
        calls={"unshare": (272, 97), "setns": (308, 268)},
    ),
    *(
        Denial(
            reason="a new namespace gives new privileges in it",
            calls=CLONE,
            when=Condition(argument=0, mask=flag, value=flag),
        )
        for flag in CLONE_NAMESPACES
    ),
    Denial(
        reason="its flags are in memory, which a filter cannot read; libc falls back to clone",
        calls={"clone3": (435, 435)},
        errno=errno.ENOSYS,
    ),
    Denial(
        reason="the kernel's keyring is not namespaced",
        calls={"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    ),
    Denial(
        reason="a large attack surface of the kernel",
        calls={
            "bpf": (321, 280),
            "perf_event_open": (298, 241),
            "userfaultfd": (323, 282),
            "io_uring_setup": (425, 425),
            "io_uring_enter": (426, 426),
            "io_uring_register": (427, 427),
        },
    ),
    Denial(
        reason="administration of the machine",
        calls={
            "kexec_load": (246, 104),
            "kexec_file_load": (320, 294),
            "init_module": (175, 105),
            "finit_module": (313, 273),
            "delete_module": (176, 106),
            "create_module": (174, None),
            "reboot": (169, 142),
            "swapon": (167, 224),
            "swapoff": (168, 225),
            "acct": (163, 89),
            "syslog": (103, 116),
            "quotactl": (179, 60),
            "quotactl_fd": (443, 443),
            "sethostname": (170, 161),
            "setdomainname": (171, 162),
            "vhangup": (153, 58),
        },
    ),
    Denial(
        reason="times are measured with this clock",
        calls={
            "settimeofday": (164, 170),
            "clock_settime": (227, 112),
            "adjtimex": (159, 171),
            "clock_adjtime": (305, 266),
        },
    ),
    Denial(
        reason="opens or watches files without resolving a path",
        calls={
            "open_by_handle_at": (304, 265),
            "name_to_handle_at": (303, 264),
            "fanotify_init": (300, 262),
            "fanotify_mark": (301, 263),
            "lookup_dcookie": (212, 18),
        },
    ),
    Denial(
        reason="accesses hardware, or changes how the kernel executes this process",
        calls={
            "iopl": (172, None),
            "ioperm": (173, None),
            "modify_ldt": (154, None),
            "personality": (135, 92),
        },
    ),
    Denial(
        reason="obsolete",
        calls={
            "uselib": (134, None),
            "ustat": (136, None),
            "sysfs": (139, None),
            "_sysctl": (156, None),
            "nfsservctl": (180, 42),
        },
    ),
    *(
        Denial(
            reason="inserts input into the terminal that started us",
            calls={"ioctl": (16, 29)},
            when=Condition(argument=1, mask=0xFFFF_FFFF, value=request),
        )
        for request in (TIOCSTI, TIOCLINUX)
    ),
)

#: Additional denials for programs that must not start processes. Threads are allowed.
WITHOUT_FORK = (
    Denial(reason="kernels do not start processes", calls={"fork": (57, None), "vfork": (58, None)}),
    Denial(
        reason="kernels do not start processes; threads are allowed",
        calls=CLONE,
        when=Condition(argument=0, mask=CLONE_THREAD, value=0),
    ),
)
