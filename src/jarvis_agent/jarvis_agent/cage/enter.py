"""Builds the cage with namespaces of Linux, without any helper, and becomes the program's process.

Run as a script (``python -I -S enter.py SPEC``); standard library only. SPEC is JSON::

    {"binds": [[source, target], ...], "masks": [folder, ...], "links": [[to, from], ...], "scratch_bytes": n,
     "command": [...], "environment": {...}}

The new root is an empty read-only tmpfs with the binds in it (read-only, no devices, no set-uid) and a small /tmp.
There is no /proc, no network but an unconfigured loopback, and no other process in sight. See namespaces(7) and
pivot_root(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 1, 38, 24
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_NOBODY = 65534
#: Where the new root is put together: any folder does, it is only seen by this process.
_STAGE = "/tmp"
_LAST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)


def main(spec: dict[str, Any]) -> int:
    """Isolate, start the command as process 1 of its own world, wait for it; returns its exit status (128 + signal)."""
    is_root = os.geteuid() == 0
    apart = os.CLONE_NEWNS | os.CLONE_NEWNET | os.CLONE_NEWPID | os.CLONE_NEWIPC | os.CLONE_NEWUTS
    if is_root:
        os.unshare(apart)
    else:
        uid, gid = os.geteuid(), os.getegid()
        os.unshare(apart | os.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{_NOBODY} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{_NOBODY} {gid} 1")
    new_root(spec)
    child = os.fork()
    _die_with_parent()
    if not child:
        drop_rights(is_root)
        _die_with_parent()
        os.execve(spec["command"][0], spec["command"], spec["environment"])
    # The pipes are the program's alone: when it closes them, that must be seen at the other end.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 128 - status if status < 0 else status


def new_root(spec: dict[str, Any]) -> None:
    """Put the new root together and make it the only one."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    # Opened first: a source may lie below the stage.
    sources = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source, _ in spec["binds"]]
    _mount("tmpfs", _STAGE, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=0755")
    for source, (_, target) in zip(sources, spec["binds"], strict=True):
        _bind(source, target)
        os.close(source)
    for folder in spec["masks"]:
        _mount("tmpfs", _STAGE + folder, "tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "size=4k,mode=0755")
    for target, link in spec["links"]:
        Path(_STAGE + link).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, _STAGE + link)
    scratch = Path(_STAGE + "/tmp")
    scratch.mkdir(exist_ok=True)
    options = f"size={spec['scratch_bytes']},nr_inodes=1000,mode=1777"
    _mount("tmpfs", str(scratch), "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)
    os.chdir(_STAGE)
    # The old root is put on top of the new one's own place and taken away: no folder of it is left to be found.
    _check(_libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")
    _mount("none", "/", "", _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    os.chdir("/tmp")


def _bind(source: int, target: str) -> None:
    """A read-only view of an opened file or folder."""
    place = Path(_STAGE + target)
    if stat.S_ISDIR(os.fstat(source).st_mode):
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _mount(f"/proc/self/fd/{source}", str(place), "", _MS_BIND)
    # Flags that the source's mount has must be kept by one who is not root outside.
    kept = os.statvfs(place).f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)
    nodev = 0 if target.startswith("/dev/") else _MS_NODEV
    _mount("none", str(place), "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | nodev | kept)


def drop_rights(is_root: bool) -> None:
    """No rights over anything, and none to be had by starting another program."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    if is_root:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def _die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    done = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None
    )
    _check(done, f"mount {source} on {target}")


def _check(returned: int, what: str) -> None:
    if returned != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
