"""Readers that misbehave, for the sandbox to hold: each named for what it does."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from helix.domain.records import Section
from pipelines.readers import Progress, ReadText, UnreadableFile

READERS = {
    name: f"tests.support.unruly_readers:{name}"
    for name in (
        "babble crash daemon deep echo environment fail forge_huge forge_kind forge_marks greedy"
        " hog hold imported leak leave long mark native_hog ocr overlap pages raise_limits refuse"
        " render sleep spin trespass trespass_natively unstorable"
    ).split()
}


def echo(data: bytes, progress: Progress) -> ReadText:
    return ReadText(data.decode(), "Title", (Section(0, len(data), ("A", "B"), 3, "page 3", "h"),))


def imported(data: bytes, progress: Progress) -> ReadText:
    """A PDF's text, read as in production, and what reading may have loaded in vain."""
    read = import_module("pipelines.readers.pdf").read(data, progress)
    return ReadText(f"{read.text} {sorted({'numpy', 'pypdfium2'} & sys.modules.keys())}")


def pages(data: bytes, progress: Progress) -> ReadText:
    for page in range(5000):
        progress(page + 1, 5000)
    return ReadText("x")


def unstorable(data: bytes, progress: Progress) -> ReadText:
    text = "a\0b\ud800c"
    section = Section(0, 5, ("\0h",), None, "\udfff", "\0")
    return ReadText(text, "t\0", (section,), ("w\ud800",))


def refuse(data: bytes, progress: Progress) -> ReadText:
    raise UnreadableFile("it is\nnot what it seems")


def fail(data: bytes, progress: Progress) -> ReadText:
    raise ValueError(f"secret {data!r}")


def deep(data: bytes, progress: Progress) -> ReadText:
    return deep(data, progress)


def crash(data: bytes, progress: Progress) -> ReadText:
    ctypes.string_at(0)
    raise AssertionError


def leave(data: bytes, progress: Progress) -> ReadText:
    os._exit(7)


def sleep(data: bytes, progress: Progress) -> ReadText:
    progress(1, 2)
    time.sleep(1000)
    raise AssertionError


def hold(data: bytes, progress: Progress) -> ReadText:
    """Deaf to everything that can be ignored."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    return sleep(data, progress)


def spin(data: bytes, progress: Progress) -> ReadText:
    progress(os.getpid(), 2**31)
    while True:
        pass


def hog(data: bytes, progress: Progress) -> ReadText:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def native_hog(data: bytes, progress: Progress) -> ReadText:
    """Hog memory as C++ does: touch what malloc gives, and abort when it gives none."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = ctypes.c_void_p
    while block := malloc(1 << 20):
        ctypes.memset(block, 1, 1 << 20)
    os.abort()


def greedy(data: bytes, progress: Progress) -> ReadText:
    """Ask for more memory than there is at once, say so and abort, as Rust does."""
    ctypes.CDLL(None).malloc(1 << 40)
    os.write(2, b"Warning: odd\nmemory allocation of 1099511627776 bytes failed\n")
    os.abort()


def long(data: bytes, progress: Progress) -> ReadText:
    return ReadText("x" * int(data))


def mark(data: bytes, progress: Progress) -> ReadText:
    """Sections as the data says: spans, as JSON."""
    return ReadText("one two", None, tuple(Section(*span) for span in json.loads(data)))


def overlap(data: bytes, progress: Progress) -> ReadText:
    return ReadText("one two", None, (Section(0, 7, blocks=((0, 4), (3, 5))),))


def environment(data: bytes, progress: Progress) -> ReadText:
    open_files = sorted(int(file.name) for file in Path("/dev/fd").iterdir())
    here = [str(file) for file in Path().iterdir()]
    return ReadText(json.dumps({**os.environ, "here": here, "open": open_files}))


def _send(raw: bytes) -> ReadText:
    socket.socket(fileno=3).sendall(raw)
    return sleep(b"", lambda done, total: None)


def forge_huge(data: bytes, progress: Progress) -> ReadText:
    return _send(struct.pack(">cI", b"T", 0xFFFFFFFF))


def forge_kind(data: bytes, progress: Progress) -> ReadText:
    return _send(struct.pack(">cI", b"?", 1) + b"?")


def forge_marks(data: bytes, progress: Progress) -> ReadText:
    text = struct.pack(">cI", b"T", 3) + b"abc"
    return _send(text + struct.pack(">cI", b"M", len(data)) + data)


def _fork() -> int:
    return int(ctypes.CDLL(None).fork())  # unseen by Python's audit


def leak(data: bytes, progress: Progress) -> ReadText:
    """Leaves a process of its own session behind, with the connection open."""
    if _fork() == 0:
        os.setsid()
        time.sleep(1000)
        os._exit(0)
    return ReadText("left one")


def daemon(data: bytes, progress: Progress) -> ReadText:
    """The orphan of an orphan, while the reader goes on."""
    if _fork() == 0:
        if _fork() == 0:
            os.setsid()
            time.sleep(1000)
        os._exit(0)
    return sleep(data, progress)


def raise_limits(data: bytes, progress: Progress) -> ReadText:
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_CPU):
        with contextlib.suppress(ValueError, PermissionError):
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return ReadText(f"raised {limit}")
    if sys.platform == "linux":
        held = re.findall(
            r"^(?:CapEff|CapPrm):\s*(\w+)$", Path("/proc/self/status").read_text(), re.M
        )
        if any(int(one, 16) & ~0b100 for one in held):  # but to read what root may
            return ReadText(f"may do {held}")
    return ReadText("raised none")


def trespass(data: bytes, progress: Progress) -> ReadText:
    """Tries what Python code may not; the data is a folder to write into."""
    folder = Path(data.decode())
    kept = folder / "kept"
    attempts: dict[str, Callable[[], object]] = {
        "write": lambda: (folder / "x").write_text("x"),
        "append": lambda: kept.open("a").write("x"),
        "create": lambda: os.open(folder / "x", os.O_CREAT),
        "remove": kept.unlink,
        "rename": lambda: kept.rename(folder / "y"),
        "folder": (folder / "d").mkdir,
        "link": lambda: (folder / "l").symlink_to("kept"),
        "temporary": lambda: tempfile.mkstemp(dir=folder),
        "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect("/nowhere"),
        "listen": lambda: socket.socket().bind(("127.0.0.1", 0)),
        "resolve": lambda: socket.getaddrinfo("localhost", 9),
        "run": lambda: subprocess.run(["true"], check=True),
        "system": lambda: os.system("true"),
        "fork": os.fork,
        "kill": lambda: os.kill(os.getppid(), signal.SIGTERM),
    }
    done = []
    for name, attempt in attempts.items():
        with contextlib.suppress(PermissionError):
            attempt()
            done.append(name)
    threading.Thread(target=lambda: None).start()  # OCR needs threads: these may be
    return ReadText(json.dumps(done))


def trespass_natively(data: bytes, progress: Progress) -> ReadText:
    """The same past Python, as a parser taken over would; the data: a folder, a port, a version.

    That is Landlock's (see confinement.py): what a kernel cannot refuse is not tried.
    """
    folder, port, version = data.decode().split("|")
    libc = ctypes.CDLL(None)
    new, kept = f"{folder}/native".encode(), f"{folder}/kept".encode()
    address = struct.pack("=H", socket.AF_INET) + struct.pack(">H", int(port))
    address += bytes((127, 0, 0, 1)) + bytes(8)
    client = socket.socket()
    attempts: dict[str, tuple[int, Callable[[], int]]] = {
        "write": (1, lambda: libc.open(new, os.O_CREAT | os.O_WRONLY, 0o600)),
        "remove": (1, lambda: libc.unlink(kept)),
        "folder": (1, lambda: libc.mkdir(new, 0o700)),
        "run": (1, lambda: libc.execl(b"/bin/true", b"true", None)),
        "connect": (4, lambda: libc.connect(client.fileno(), address, len(address))),
        "kill": (6, lambda: libc.kill(os.getppid(), signal.SIGTERM)),
    }
    done = [
        name for name, (since, attempt) in attempts.items()
        if since <= int(version) and attempt() != -1
    ]  # fmt: skip
    return ReadText(json.dumps(done))


def babble(data: bytes, progress: Progress) -> ReadText:
    """Prints more than anybody keeps."""
    for _ in range(1000):
        with contextlib.suppress(BlockingIOError):
            os.write(2, b"x" * 1000)
    return ReadText("said")


def ocr(data: bytes, progress: Progress) -> ReadText:
    """The words of a picture, by the models that scanned pages are read with."""
    from rapidocr import RapidOCR

    return ReadText(" ".join(getattr(RapidOCR()(data), "txts", None) or ()))


def render(data: bytes, progress: Progress) -> ReadText:
    """The words of a PDF's pages, and that they can be drawn."""
    import pypdfium2  # type: ignore[import-untyped]

    with pypdfium2.PdfDocument(data) as document:
        for number, page in enumerate(document, start=1):
            page.render(scale=2).to_numpy()
            progress(number, len(document))
        return ReadText("".join(page.get_textpage().get_text_range() for page in document))
