"""Bringing documents in: read, split, embed, write."""

import contextlib as _contextlib
import ctypes as _ctypes

# One heap for all threads of a process that writes, set before it has any: glibc gives each thread
# one of its own, and they grow as files pass through (1,200 small files: 263 MiB at the end, and
# 248 MiB with one heap).
_M_ARENA_MAX = -8  # of malloc.h
with _contextlib.suppress(OSError, AttributeError):  # another libc
    _ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
