"""Confinement of a reading process: limits, no writing, no network, no other programs.

Limits come first and hold everywhere but for memory on macOS. The rest is in layers, each applied
where the kernel has it: Landlock refuses every write, every program and TCP to native code too; an
empty network namespace leaves nothing to connect to; an audit hook tells Python code the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

_LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None, use_errno=True) if _LINUX else None
_MB = 1024 * 1024
_OPEN_FILES = 64
_RESERVED_MB = (
    4096  # address space beyond the memory: allocators and threads map more than they use
)
_MOST_PROCESSORS = os.cpu_count() or 1

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # system calls, the same number on every machine
_CAP_DAC_READ_SEARCH = 1 << 2
_CAPABILITY_VERSION = 0x20080522

_REFUSED = (
    "ftplib.", "os.chmod", "os.chown", "os.exec", "os.fork", "os.kill", "os.link", "os.mkdir",
    "os.posix_spawn", "os.remove", "os.rename", "os.rmdir", "os.spawn", "os.startfile",
    "os.symlink", "os.system", "os.truncate", "os.utime", "pty.spawn", "shutil.", "smtplib.",
    "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendmsg",
    "socket.sendto", "sqlite3.connect", "subprocess.", "tempfile.", "urllib.Request", "webbrowser.",
)  # fmt: skip
"""Beginnings of the audit events (docs.python.org/3/library/audit_events.html) that are refused."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine_host() -> None:
    """Confine the host, once: it gets an empty network, and the orphans of its children."""
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # as root, a user namespace would take away reading files of other owners
    _LIBC.unshare(_CLONE_NEWNET | (0 if os.geteuid() == 0 else _CLONE_NEWUSER))


def die_with_parent(parent: int) -> None:
    """This process is killed when ``parent``, which forked it, ends; for Linux."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(1)


def confine_reader(seconds: int, memory_mb: int) -> None:
    """Confine one file's process, for good. ``memory_mb`` comes on top of what is mapped now."""
    _limit(seconds, memory_mb)
    if _LIBC is not None:
        _drop_capabilities(_LIBC)
        _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _landlock(_LIBC)
    sys.addaudithook(_audit)


def landlock_version() -> int:
    """The version of the kernel's interface to Landlock; 0 or less where it has none."""
    return int(_LIBC.syscall(_CREATE_RULESET, None, 0, 1)) if _LIBC is not None else 0


def _limit(seconds: int, memory_mb: int) -> None:
    size, data = _mapped()
    # processor seconds are a backstop for the host's clock, and threads spend them side by side
    _set(resource.RLIMIT_CPU, seconds * _MOST_PROCESSORS + 1)
    # RLIMIT_DATA counts what is writable: what onnxruntime and pdfium merely reserve is not memory
    _set(resource.RLIMIT_DATA, data + memory_mb * _MB)
    _set(resource.RLIMIT_AS, size + (memory_mb + _RESERVED_MB) * _MB)
    _set(resource.RLIMIT_FSIZE, 0)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)


def _set(limit: int, most: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS has not all of them
        resource.setrlimit(limit, (most, most))


def _mapped() -> tuple[int, int]:
    """Bytes of address space this process has, and of them writable ones; zeros where unknown."""
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0, 0
    return int(pages[0]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Root or not, no limit can be raised again; reading what root may read stays."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 bits
    if libc.capget(header, held) == 0:
        kept = held[0] & _CAP_DAC_READ_SEARCH
        libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0))


def _landlock(libc: ctypes.CDLL) -> None:
    """Refuse what a ruleset without a rule refuses, as far as this kernel knows it.

    The bits are those of linux/landlock.h by version of its interface.
    """
    version = landlock_version()
    if version < 1:
        return
    writing = {1: 0x1FF3, 2: 0x3FF3}.get(version, 0x7FF3)  # all but to read files and directories
    tcp = 0b11 if version >= 4 else 0  # bind, connect
    scope = 0b11 if version >= 6 else 0  # abstract unix sockets and signals to others
    rules = (ctypes.c_uint64 * 3)(writing, tcp, scope)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    descriptor = libc.syscall(_CREATE_RULESET, rules, size, 0)
    if descriptor >= 0:
        libc.syscall(_RESTRICT_SELF, descriptor, 0)
        os.close(descriptor)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    refused = event == "open" and _opens_to_write(arguments)
    if refused or event.startswith(_REFUSED):
        raise PermissionError(f"a reader may not {event}")


def _opens_to_write(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & _WRITING) and arguments[0] != os.devnull
