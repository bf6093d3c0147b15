"""The system calls that a box may use, with the reason per group. Every other call fails with EPERM.

`seccomp.py` turns this table into a filter. The numbers are for x86-64 and aarch64. Deliberately not in the
table: sockets; other processes' memory (`ptrace`, `process_vm_*`); mounts and namespaces; keyrings; large
attack surfaces of the kernel (`bpf`, `io_uring_*`, `perf_event_open`, `userfaultfd`); administration of the
machine; its clock; and every way to schedule a signal that arrives while stopped (`timer_create`,
`mq_notify`, F_SETSIG), because a box without a cgroup is frozen with SIGSTOP.
"""

from __future__ import annotations

import errno

from warmfront.value_class import dataclass

CLONE_THREAD = 0x0001_0000
#: New mount, cgroup, uts, ipc, user, pid and network namespaces.
CLONE_NAMESPACES = (0x0002_0000, *(1 << bit for bit in range(25, 31)))

ALL_BITS = 0xFFFF_FFFF

#: fcntl: duplicate, flags, locks, the size of pipes, and seals; not F_SETOWN and F_SETSIG.
FCNTL_COMMANDS = (*range(8), *range(36, 39), *range(1030, 1035))

#: prctl: names, dumpability, what the launcher sets to drop privileges, and hints for memory and timers.
PRCTL_OPTIONS = (
    *(1, 3, 4, 7, 8, 15, 16, 21, 23, 24, 27, 28, 29, 30, 38, 39, 41, 42, 47),
    *(0x5356_4D41, 0x5961_6D61),  # PR_SET_VMA and PR_SET_PTRACER
)

SECCOMP_SET_MODE_FILTER = 1

#: ioctl: terminal checks, terminal width and process group, bytes to read, flags, and copy by reference.
IOCTL_REQUESTS = (0x5401, 0x802C_542A, 0x5413, 0x540F, 0x541B, 0x5421, 0x5450, 0x5451, 0x4004_9409)
#: ioctl: the types of the requests to /dev/kfd and /dev/dri.
GPU_IOCTL_TYPES = (ord("K"), ord("d"))

#: personality: query it, and set the default one.
PERSONALITIES = (0xFFFF_FFFF, 0)

#: Numbers of a call on x86-64 and on aarch64; None if it does not exist there.
Numbers = tuple[int, int | None]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition that holds if the masked argument equals the value."""

    argument: int
    mask: int = ALL_BITS
    value: int


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """System calls that are allowed, always or if one of the conditions holds."""

    reason: str
    calls: dict[str, Numbers]
    when: tuple[Condition, ...] = ()


def one_of(argument: int, values: tuple[int, ...]) -> tuple[Condition, ...]:
    """Return the conditions for an argument that is one of these values."""
    return tuple(Condition(argument=argument, value=value) for value in values)


CLONE: dict[str, Numbers] = {"clone": (56, 220)}
IOCTL: dict[str, Numbers] = {"ioctl": (16, 29)}

ALWAYS = (
    Allowance(
        reason="computes with its own memory",
        calls={
            "brk": (12, 214),
            "mmap": (9, 222),
            "munmap": (11, 215),
            "mprotect": (10, 226),
            "mremap": (25, 216),
            "madvise": (28, 233),
            "mincore": (27, 232),
            "msync": (26, 227),
            "mlock": (149, 228),
            "mlock2": (325, 284),
            "munlock": (150, 229),
            "mlockall": (151, 230),
            "munlockall": (152, 231),
            "membarrier": (324, 283),
        },
    ),
    Allowance(
        reason="reads and writes files that are open",
        calls={
            "read": (0, 63),
            "write": (1, 64),
            "readv": (19, 65),
            "writev": (20, 66),
            "pread64": (17, 67),
            "pwrite64": (18, 68),
            "preadv": (295, 69),
            "pwritev": (296, 70),
            "preadv2": (327, 286),
            "pwritev2": (328, 287),
            "lseek": (8, 62),
            "close": (3, 57),
            "close_range": (436, 436),
            "dup": (32, 23),
            "dup2": (33, None),
            "dup3": (292, 24),
            "fsync": (74, 82),
            "fdatasync": (75, 83),
            "sync_file_range": (277, 84),
            "fallocate": (285, 47),
            "ftruncate": (77, 46),
            "fadvise64": (221, 223),
            "readahead": (187, 213),
            "sendfile": (40, 71),
            "splice": (275, 76),
            "tee": (276, 77),
            "copy_file_range": (326, 285),
            "flock": (73, 32),
        },
    ),
    Allowance(
        reason="opens and changes files; mounts and permissions limit which",
        calls={
            "open": (2, None),
            "openat": (257, 56),
            "openat2": (437, 437),
            "creat": (85, None),
            "stat": (4, None),
            "fstat": (5, 80),
            "lstat": (6, None),
            "newfstatat": (262, 79),
            "statx": (332, 291),
            "access": (21, None),
            "faccessat": (269, 48),
            "faccessat2": (439, 439),
            "readlink": (89, None),
            "readlinkat": (267, 78),
            "getdents": (78, None),
            "getdents64": (217, 61),
            "getcwd": (79, 17),
            "chdir": (80, 49),
            "fchdir": (81, 50),
            "truncate": (76, 45),
            "mkdir": (83, None),
            "mkdirat": (258, 34),
            "rmdir": (84, None),
            "unlink": (87, None),
            "unlinkat": (263, 35),
            "rename": (82, None),
            "renameat": (264, 38),
            "renameat2": (316, 276),
            "link": (86, None),
            "linkat": (265, 37),
            "symlink": (88, None),
            "symlinkat": (266, 36),
            "chmod": (90, None),
            "fchmod": (91, 52),
            "fchmodat": (268, 53),
            "chown": (92, None),
            "fchown": (93, 55),
            "lchown": (94, None),
            "fchownat": (260, 54),
            "umask": (95, 166),
            "utime": (132, None),
            "utimes": (235, None),
            "utimensat": (280, 88),
            "futimesat": (261, None),
            "statfs": (137, 43),
            "fstatfs": (138, 44),
            "getxattr": (191, 8),
            "lgetxattr": (192, 9),
            "fgetxattr": (193, 10),
            "listxattr": (194, 11),
            "llistxattr": (195, 12),
            "flistxattr": (196, 13),
        },
    ),
    Allowance(
        reason="waits for descriptors",
        calls={
            "poll": (7, None),
            "ppoll": (271, 73),
            "select": (23, None),
            "pselect6": (270, 72),
            "epoll_create": (213, None),
            "epoll_create1": (291, 20),
            "epoll_ctl": (233, 21),
            "epoll_wait": (232, None),
            "epoll_pwait": (281, 22),
            "epoll_pwait2": (441, 441),
            "pipe": (22, None),
            "pipe2": (293, 59),
            "eventfd": (284, None),
            "eventfd2": (290, 19),
            "timerfd_create": (283, 85),
            "timerfd_settime": (286, 86),
            "timerfd_gettime": (287, 87),
        },
    ),
    Allowance(
        reason="threads, signals and clocks",
        calls={
            "futex": (202, 98),
            "futex_waitv": (449, 449),
            "set_robust_list": (273, 99),
            "get_robust_list": (274, 100),
            "set_tid_address": (218, 96),
            "gettid": (186, 178),
            "rseq": (334, 293),
            "sched_yield": (24, 124),
            "sched_getaffinity": (204, 123),
            "sched_setaffinity": (203, 122),
            "sched_getscheduler": (145, 120),
            "sched_setscheduler": (144, 119),
            "sched_getparam": (143, 121),
            "sched_setparam": (142, 118),
            "sched_get_priority_max": (146, 125),
            "sched_get_priority_min": (147, 126),
            "sched_getattr": (315, 275),
            "sched_rr_get_interval": (148, 127),
            "getcpu": (309, 168),
            "rt_sigaction": (13, 134),
            "rt_sigprocmask": (14, 135),
            "rt_sigreturn": (15, 139),
            "rt_sigpending": (127, 136),
            "rt_sigsuspend": (130, 133),
            "rt_sigtimedwait": (128, 137),
            "rt_sigqueueinfo": (129, 138),
            "rt_tgsigqueueinfo": (297, 240),
            "sigaltstack": (131, 132),
            "kill": (62, 129),
            "tkill": (200, 130),
            "tgkill": (234, 131),
            "pause": (34, None),
            "alarm": (37, None),
            "getitimer": (36, 102),
            "setitimer": (38, 103),
            "nanosleep": (35, 101),
            "clock_nanosleep": (230, 115),
            "clock_gettime": (228, 113),
            "clock_getres": (229, 114),
            "gettimeofday": (96, 169),
            "time": (201, None),
            "times": (100, 153),
            "restart_syscall": (219, 128),
            "arch_prctl": (158, None),
        },
    ),
    Allowance(
        reason="starts, as the launcher does, and ends",
        calls={
            "execve": (59, 221),
            "execveat": (322, 281),
            "exit": (60, 93),
            "exit_group": (231, 94),
            "wait4": (61, 260),
            "waitid": (247, 95),
        },
    ),
    Allowance(
        reason="asks about itself, the system and random numbers",
        calls={
            "getpid": (39, 172),
            "getppid": (110, 173),
            "getpgrp": (111, None),
            "getpgid": (121, 155),
            "getsid": (124, 156),
            "getuid": (102, 174),
            "geteuid": (107, 175),
            "getgid": (104, 176),
            "getegid": (108, 177),
            "getresuid": (118, 148),
            "getresgid": (120, 150),
            "getgroups": (115, 158),
            "capget": (125, 90),
            "getpriority": (140, 141),
            "getrlimit": (97, 163),
            "prlimit64": (302, 261),
            "setrlimit": (160, 164),
            "getrusage": (98, 165),
            "sysinfo": (99, 179),
            "uname": (63, 160),
            "getrandom": (318, 278),
            "get_mempolicy": (239, 236),
        },
    ),
    Allowance(
        reason="drops privileges, as the launcher does; without capabilities it cannot gain any",
        calls={
            "setuid": (105, 146),
            "setgid": (106, 144),
            "setreuid": (113, 145),
            "setregid": (114, 143),
            "setresuid": (117, 147),
            "setresgid": (119, 149),
            "setgroups": (116, 159),
            "setfsuid": (122, 151),
            "setfsgid": (123, 152),
            "capset": (126, 91),
        },
    ),
    Allowance(
        reason="new threads in this process, without new namespaces",
        calls=CLONE,
        when=(Condition(argument=0, mask=CLONE_THREAD | sum(CLONE_NAMESPACES), value=CLONE_THREAD),),
    ),
    Allowance(reason="uses its descriptors", calls={"fcntl": (72, 25)}, when=one_of(1, FCNTL_COMMANDS)),
    Allowance(reason="sets its own attributes", calls={"prctl": (157, 167)}, when=one_of(0, PRCTL_OPTIONS)),
    Allowance(
        reason="restricts itself further, as the guest does to seal device memory",
        calls={"seccomp": (317, 277)},
        when=one_of(0, (SECCOMP_SET_MODE_FILTER,)),
    ),
    Allowance(reason="asks about its descriptors", calls=IOCTL, when=one_of(1, IOCTL_REQUESTS)),
    Allowance(
        reason="asks how it is executed", calls={"personality": (135, 92)}, when=one_of(0, PERSONALITIES)
    ),
)

#: In addition for programs that start others.
WITH_FORK = (
    Allowance(
        reason="compilers start other programs",
        calls={
            "fork": (57, None),
            "vfork": (58, None),
            "setpgid": (109, 154),
            "setsid": (112, 157),
            "setpriority": (141, 140),
        },
    ),
    Allowance(
        reason="new processes, without new namespaces",
        calls=CLONE,
        when=(Condition(argument=0, mask=sum(CLONE_NAMESPACES), value=0),),
    ),
)

#: In addition for programs that use a GPU.
WITH_DEVICES = (
    Allowance(
        reason="the runtime of a GPU places and shares its memory",
        calls={
            "memfd_create": (319, 279),
            "mbind": (237, 235),
            "set_mempolicy": (238, 237),
            "move_pages": (279, 239),
        },
    ),
    Allowance(
        reason="requests to the driver of a GPU",
        calls=IOCTL,
        when=tuple(Condition(argument=1, mask=0xFF00, value=kind << 8) for kind in GPU_IOCTL_TYPES),
    ),
)

#: Calls that libraries try first, and that must fail with this error so that they fall back to an older call.
#: clone3 is one because its flags are in memory, which a filter cannot read.
PROBED_ERRNO = errno.ENOSYS
PROBED: dict[str, Numbers] = {
    "clone3": (435, 435),
    "fchmodat2": (452, 452),
    "map_shadow_stack": (453, 453),
    "futex_wake": (454, 454),
    "futex_wait": (455, 455),
    "futex_requeue": (456, 456),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "set_mempolicy_home_node": (450, 450),
    "cachestat": (451, 451),
    "mseal": (462, 462),
}
