"""The folder of the tests' Postgres servers: in memory, on a machine that has the room."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
"""Linux's file system in memory. In a container it often has 64 MB."""
ROOM_BYTES = 6 << 30
"""Bytes that must be free there and in memory: each pytest process has a server of up to 1 GB."""


def new_folder() -> Path:
    """An empty folder, which whoever asks for it removes.

    A database of a test is about 600 files, and there is one for each test: to create and drop it
    took 0.5 s of a processor in ext4, and takes 0.05 s in memory. It is not below pytest's own
    folder, which that closes to everybody else: as root the servers run as another user.
    """
    return Path(tempfile.mkdtemp(prefix="helix-tests-", dir=_in_memory()))


def _in_memory() -> Path | None:
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        return None
    free = min(psutil.disk_usage(str(MEMORY)).free, psutil.virtual_memory().available)
    return MEMORY if free >= ROOM_BYTES else None
