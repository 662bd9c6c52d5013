"""Each file is read in a process that may misbehave as it likes, and only its own file is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.input_text import visible_line
from helix.domain.records import Section
from helix.sandbox import frames
from helix.sandbox.confinement import landlock_version
from pipelines.readers import ReadText, UnreadableFile
from pipelines.sandbox import ReadLimits, Sandbox, SandboxFailed, answer
from tests.support import sample_documents as documents
from tests.support.repository import ROOT
from tests.support.unruly_readers import READERS

pytestmark = pytest.mark.processes

LINUX = sys.platform == "linux"
LIMITS = ReadLimits(seconds=30, memory_mb=256, text_chars=2_000_000)
SHORT = ReadLimits(seconds=1, memory_mb=256)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async for one in _sandbox(LIMITS):
        yield one


@pytest.fixture
async def brief_sandbox() -> AsyncIterator[Sandbox]:
    """One whose reads may take a second."""
    async for one in _sandbox(SHORT):
        yield one


async def _sandbox(limits: ReadLimits) -> AsyncIterator[Sandbox]:
    before = _descendants()
    sandbox = Sandbox(limits, readers=READERS)
    yield sandbox
    await sandbox.aclose()
    await _gone(_descendants() - before)


def _descendants() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


async def _gone(processes: set[psutil.Process]) -> None:
    """Wait until none of them runs; pytest's own limit ends it if one does for ever."""
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
        await asyncio.sleep(0.01)


async def _reason(sandbox: Sandbox, kind: str, data: bytes = b"") -> str:
    with pytest.raises(UnreadableFile) as raised:
        await sandbox.read(kind, data)
    return str(raised.value)


async def test_a_file_comes_back_as_its_reader_gave_it(sandbox: Sandbox) -> None:
    data = ("ä€𝄞 " * 250_000).encode()
    section = Section(0, len(data), ("A", "B"), 3, "page 3", "h")
    ascii_data = b"x" * 1_000_000
    assert await sandbox.read("echo", ascii_data) == ReadText(
        ascii_data.decode(), "Title", (Section(0, 1_000_000, *_rest(section)),)
    )
    assert (await sandbox.read("long", b"2000000")).text == "x" * 2_000_000
    # its section is as long as the bytes, and so longer than the text
    assert await _reason(sandbox, "echo", data) == "the reader marked it wrongly"


def _rest(section: Section) -> tuple[tuple[str, ...], int | None, str, str]:
    return section.heading_path, section.page, section.label, section.context


async def test_readers_of_helix_read_here() -> None:
    sandbox = Sandbox()
    assert (await sandbox.read("text", b"plain words")).text == "plain words"
    assert (await sandbox.read("markdown", b"# Head\n\nwords\n")).title == "Head"
    assert await _reason(sandbox, "png", b"") == "no reader for png"
    assert "text" in await _reason(sandbox, "text", b"\0")
    await sandbox.aclose()


async def test_a_process_that_reads_has_no_numpy(sandbox: Sandbox) -> None:
    """It would be a third of its memory; what it forks from must not have it either."""
    assert (await sandbox.read("imported", documents.pdf("Plain words."))).text == "Plain words. []"


async def test_what_a_library_prints_is_no_hindrance(sandbox: Sandbox) -> None:
    assert (await sandbox.read("babble", b"")).text == "said"


async def test_pages_are_drawn_and_scans_read_within_the_limits() -> None:
    """pdfium and the OCR models are the greediest that readers use."""
    sandbox = Sandbox(readers=READERS)
    words = "Refunds within thirty days"
    page, scan = documents.pdf(words), documents.png(words, 640, 260)
    reads = (sandbox.read(*one) for one in (("render", page), ("ocr", scan), ("render", page)))
    assert [" ".join(read.text.split()) for read in await asyncio.gather(*reads)] == [words] * 3
    await sandbox.aclose()


async def test_progress_is_heard_now_and_then_and_at_the_end(sandbox: Sandbox) -> None:
    heard: list[tuple[int, int]] = []
    await sandbox.read("pages", b"", lambda done, total: heard.append((done, total)))
    assert heard[0] == (1, 5000) and heard[-1] == (5000, 5000) and heard == sorted(heard)
    assert len(heard) < 2500


async def test_reads_go_side_by_side_up_to_the_limit() -> None:
    """Two that wait for their limit, and a third that only begins when one of them is over."""
    sandbox = Sandbox(SHORT, processes=2, readers=READERS)
    running, most = 0, 0

    async def read() -> None:
        nonlocal running, most
        began = False

        def begin(done: int, total: int) -> None:
            nonlocal running, most, began
            began, running = True, running + 1
            most = max(most, running)

        with suppress(UnreadableFile):
            await sandbox.read("sleep", b"", begin)
        assert began
        running -= 1

    await asyncio.gather(*(read() for _ in range(4)))
    assert most == 2
    await sandbox.aclose()


async def test_text_and_marks_come_back_as_postgres_can_hold_them(sandbox: Sandbox) -> None:
    read = await sandbox.read("unstorable", b"")
    bad = "\ufffd"
    assert (
        read.text == f"a{bad}b{bad}c" and read.title == f"t{bad}" and read.warnings == (f"w{bad}",)
    )
    assert read.sections == (Section(0, 5, (f"{bad}h",), None, bad, bad),)


_TOO_LARGE = "needs more than 256 MB of memory to read (HELIX_READ_MB)"
REASONS = {
    "refuse": "it is not what it seems",
    "fail": "the reader failed (ValueError)",
    "deep": "it is nested too deeply to read",
    "crash": "the reader crashed (signal 11)",
    "leave": "the reader ended without an answer",
    "hog": _TOO_LARGE, "native_hog": _TOO_LARGE, "greedy": _TOO_LARGE,
    "forge_huge": "its text is longer than 2 million characters",
    "forge_kind": "the reader marked it wrongly",
    "overlap": "the reader marked it wrongly",
}  # fmt: skip
"""By what a reader does; each has the same host, which goes on."""


async def test_the_reason_is_told(sandbox: Sandbox) -> None:
    for kind, reason in REASONS.items():
        assert await _reason(sandbox, kind) == reason, kind
        assert (await sandbox.read("echo", b"next")).text == "next", kind


@pytest.mark.parametrize("kind", ["sleep", "hold", "spin"])
async def test_time_is_limited(brief_sandbox: Sandbox, kind: str) -> None:
    assert await _reason(brief_sandbox, kind) == "took longer than 1 s to read (HELIX_READ_SECONDS)"


async def test_text_is_limited(sandbox: Sandbox) -> None:
    assert "longer than 2 million characters" in await _reason(sandbox, "long", b"2000001")


WRONG = (
    "[[0, 8]]", "[[-1, 7]]", "[[4, 7], [0, 3]]", "[[0, 5], [4, 7]]", "[[5, 4], [4, 7]]",
    "[[0, 3]]", "[[4, 7]]", "[[0, 2], [3, 7]]", '[[0, "7"]]', "[[0, 7.0]]", "[[true, 7]]",
    "[[0, 7, [], 0]]", "[[0, 7, [1]]]", "[[0, 7, [], null, 5]]",
)  # fmt: skip
"""Marks that leave out words are wrong too: nothing may be lost."""


async def test_marks_that_are_wrong_are_refused(sandbox: Sandbox) -> None:
    refusals = ("the reader marked it wrongly", "the reader failed (TypeError")
    for spans in WRONG:
        assert (await _reason(sandbox, "mark", spans.encode())).startswith(refusals), spans


async def test_a_list_of_contents_may_be_left_out() -> None:
    text = "1 Start ...... 1\n2 Parser ..... 4\n3 Trees ...... 5\n4 Writer .... 12\n\n"
    words = "The parser reads trees. " * 40
    sandbox = Sandbox(ReadLimits())
    read = await sandbox.read("text", f"Manual\n\nContents\n{text}{words}".encode())
    await sandbox.aclose()
    assert "Start" in read.text and read.sections
    assert not any("Start" in read.text[one.start : one.end] for one in read.sections)
    assert words.strip() in [read.text[one.start : one.end] for one in read.sections]


async def test_marks_that_are_right_are_kept(sandbox: Sandbox) -> None:
    read = await sandbox.read("mark", b"[[0, 0], [0, 3], [4, 7], [7, 7]]")
    assert [(one.start, one.end) for one in read.sections] == [(0, 0), (0, 3), (4, 7), (7, 7)]


FORGED = (
    b"", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000, b"9" * 5000,
    b'{"title":1,"warnings":[],"paths":[],"contexts":[],"rows":[],"pages":[]}',
    b'{"title":null,"warnings":[3],"paths":[],"contexts":[],"rows":[],"pages":[]}',
    b'{"title":null,"warnings":[],"paths":[],"contexts":[],"rows":[[0,3,0,null,"",0,[],0]],'
    b'"pages":[]}',
    b'{"title":null,"warnings":[],"paths":[[]],"contexts":[""],"rows":[[0,3,0,null,"",0,[[0]],0]],'
    b'"pages":[]}',
)  # fmt: skip


async def test_forged_marks_are_refused(sandbox: Sandbox) -> None:
    for marks in FORGED:
        reason = await _reason(sandbox, "forge_marks", marks)
        assert reason == "the reader marked it wrongly", marks[:80]


_WORDS = st.text(st.characters(exclude_categories=()), max_size=30)


@given(st.lists(_WORDS, max_size=6), st.lists(_WORDS, max_size=3), st.one_of(st.none(), _WORDS))
def test_any_text_arrives_with_its_marks(
    parts: list[str], path: list[str], title: str | None
) -> None:
    """Character for character but for those that cannot be stored, and in one line where named."""
    ends = list(accumulate(map(len, parts), initial=0))
    sections = tuple(
        Section(start, end, tuple(path), blocks=((start, end),), rows=True)
        for start, end in pairwise(ends)
    )
    sent = answer.frames_of(ReadText("".join(parts), title, sections), 1000)
    bodies = {
        frames.HEAD.unpack(head)[0]: body for head, body in zip(sent[::2], sent[1::2], strict=True)
    }
    read = answer.read_text_of(bodies, bytearray(bodies.pop(answer.MARKS)), 1000)
    assert len(read.text) == ends[-1]
    lost = [(a, b) for a, b in zip("".join(parts), read.text, strict=True) if a != b]
    assert all(b == "\ufffd" and (a == "\0" or "\ud800" <= a <= "\udfff") for a, b in lost)
    assert [(one.start, one.end, one.blocks) for one in read.sections] == [
        (one.start, one.end, one.blocks) for one in sections
    ]
    for said in (read.title or "", *(name for one in read.sections for name in one.heading_path)):
        assert visible_line(said) == said and "\0" not in said


async def test_a_reader_sees_no_key_and_no_open_file(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "test-key")
    monkeypatch.setenv("DATABASE_URL", "postgresql://someone:secret@nowhere/x")
    seen = json.loads((await sandbox.read("environment", b"")).text)
    assert not {"GEMINI_API_KEY", "DATABASE_URL"} & seen.keys()
    assert not re.search("test-key|secret", json.dumps(seen))
    assert seen["here"] == []
    assert seen["open"] == [0, 1, 2, 3, 4]  # the last is the listing's own


async def test_a_reader_writes_nothing_and_reaches_nobody(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("as it was")
    assert (await sandbox.read("trespass", str(tmp_path).encode())).text == "[]"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"kept": "as it was"}


async def test_neither_does_code_that_python_does_not_see(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("as it was")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = f"{tmp_path}|{server.getsockname()[1]}|{landlock_version()}"
        assert (await sandbox.read("trespass_natively", told.encode())).text == "[]"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"kept": "as it was"}


async def test_a_reader_cannot_raise_its_limits(sandbox: Sandbox) -> None:
    assert (await sandbox.read("raise_limits", b"")).text == "raised none"


async def test_what_a_reader_leaves_behind_is_stopped() -> None:
    if not LINUX:  # elsewhere a process of its own session is not found
        return
    async for sandbox in _sandbox(ReadLimits(seconds=5, memory_mb=256)):
        await sandbox.read("environment", b"")
        hosts = _descendants()
        assert (await sandbox.read("leak", b"")).text == "left one"
        assert "took longer" in await _reason(sandbox, "daemon")
        await _gone(_descendants() - hosts)


async def test_a_read_that_is_cancelled_stops_its_process(sandbox: Sandbox) -> None:
    pids: list[int] = []
    reading = asyncio.create_task(sandbox.read("spin", b"", lambda pid, _: pids.append(pid)))
    while not pids:
        await asyncio.sleep(0.01)
    process = psutil.Process(pids[0])
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    await _gone({process})
    assert (await sandbox.read("echo", b"next")).text == "next"


def _host_of(pid: int) -> psutil.Process:
    parent = psutil.Process(pid).parent()
    assert parent is not None
    return parent


async def test_a_host_that_is_killed_is_replaced(sandbox: Sandbox) -> None:
    """While it reads, the file is read again; twice, the file is given up."""
    readers: list[psutil.Process] = []

    def kill_the_host(pid: int, total: int) -> None:
        readers.append(psutil.Process(pid))
        _host_of(pid).kill()

    with pytest.raises(UnreadableFile, match="killed twice"):
        await sandbox.read("spin", b"", kill_the_host)
    assert len(readers) == 2
    await _gone(set(readers))  # a reader does not outlive its host
    assert (await sandbox.read("echo", b"next")).text == "next"


async def test_a_host_that_ended_between_reads_is_replaced(sandbox: Sandbox) -> None:
    await sandbox.read("echo", b"first")
    for one in psutil.Process().children():
        if "helix.sandbox.host" in one.cmdline():
            one.kill()
    assert (await sandbox.read("echo", b"next")).text == "next"


async def test_a_host_that_cannot_start_is_no_files_fault(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SandboxFailed, match="did not start"):
        await sandbox.read("echo", b"")


async def test_a_host_without_a_temporary_folder_is_no_files_fault(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(SandboxFailed, match=r"No such file or directory.*set TMPDIR"):
        await sandbox.read("echo", b"")


_WORKER = """
import asyncio, signal
from pipelines.sandbox import ReadLimits, Sandbox
from tests.support.unruly_readers import READERS

async def main():
    sandbox = Sandbox(ReadLimits(seconds=600), readers=READERS)
    await sandbox.read("spin", b"", lambda pid, total: print(pid, flush=True))

# a shell's background job, as a run of all tests may be one, ignores it, and so would this
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_nothing_outlives_a_worker_that_is_killed(number: signal.Signals) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert worker.stdout is not None
    reader = psutil.Process(int(worker.stdout.readline()))
    host = _host_of(reader.pid)
    assert host.parent() == psutil.Process(worker.pid)
    folder = Path(host.cwd())
    os.kill(worker.pid, number)
    worker.communicate()
    await _gone({reader, host})
    assert not folder.exists()
