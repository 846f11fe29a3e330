"""A system call filter: what a program that only computes and talks over open pipes never needs is refused.

The filter is the second wall; the namespaces are the first. Refused calls fail with EPERM, so that a program gets an
ordinary error instead of a silent death. See seccomp(2), and the kernel's Documentation/userspace-api/seccomp_filter.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NR, _ARCH, _ARG0 = 0, 4, 16  # offsets in struct seccomp_data
_CLONE_THREAD = 0x00010000
_X32 = 0x40000000

#: Refused calls: number on x86_64 and on aarch64 (None where the call does not exist).
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # network and every other way to reach another process
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "accept": (43, 202), "bind": (49, 200),
    "listen": (50, 201), "accept4": (288, 242), "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190),
    "msgget": (68, 186), "mq_open": (240, 180), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    # processes and signals
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "personality": (135, 92),
    "setpriority": (140, 140), "sched_setaffinity": (203, 122), "setsid": (112, 157), "setpgid": (109, 154),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "mknod": (133, None), "mknodat": (259, 33),
    # the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "syslog": (103, 116), "acct": (163, 89), "quotactl": (179, 60),
    "fanotify_init": (300, 262), "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
    "settimeofday": (164, 170), "adjtimex": (159, 171), "clock_settime": (227, 112), "sethostname": (170, 161),
    "setuid": (105, 146), "setgid": (106, 144), "setresuid": (117, 147), "setresgid": (119, 149),
    "prlimit64": (302, 261),
}  # fmt: skip
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_SETRLIMIT = {"x86_64": 160, "aarch64": 164}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install() -> None:
    """Filter this process from now on; it can't be undone, and holds for all it starts.

    Raises:
        OSError: the kernel has no filters, or there is no table for this machine's processor.
    """
    code = _code(os.uname().machine)
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "no system call filter")


def _code(machine: str) -> bytes:
    """The filter's instructions, 8 bytes each."""
    if machine not in _AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    column = list(_AUDIT_ARCH).index(machine)
    numbers = [pair[column] for pair in _REFUSED.values()] + [_SETRLIMIT[machine]]
    eperm, enosys = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    code = [
        _step(_LOAD, _ARCH),
        _step(_JUMP_EQ, _AUDIT_ARCH[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NR),
        _step(_JUMP_GE, _X32, 0, 1),
        _step(_RETURN, eperm),
        # glibc falls back to clone, whose flags can be read, where clone3 does not exist.
        _step(_JUMP_EQ, _CLONE3, 0, 1),
        _step(_RETURN, enosys),
    ]
    for number in numbers:
        if number is not None:
            code += [_step(_JUMP_EQ, number, 0, 1), _step(_RETURN, eperm)]
    code += [
        _step(_JUMP_EQ, _CLONE[machine], 0, 3),
        _step(_LOAD, _ARG0),
        _step(_JUMP_SET, _CLONE_THREAD, 1, 0),
        _step(_RETURN, eperm),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(code)


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)
