"""Files made to harm, and thousands damaged: each is read or refused, and nothing else happens."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from pipelines.readers import ReadText, UnreadableFile
from pipelines.sandbox import ReadLimits, Sandbox
from tests.support.damaged_files import mutants
from tests.support.hostile_files import GIF, hostile
from tests.support.sound_files import samples

pytestmark = pytest.mark.processes

SECRET = "the-content-of-a-file-elsewhere"
LIMITS = ReadLimits(seconds=4, memory_mb=320, text_chars=30_000_000)
AT_ONCE = 3

Outcome = ReadText | str
"""The outcome of a file: its text, or the reason why there is none."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tree with the working and the temporary directory in it, that must stay as it is."""
    for name in ("work/deep", "temporary"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work" / "secret.txt").write_text(SECRET)
    monkeypatch.chdir(tmp_path / "work" / "deep")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    before, evil = _state(tmp_path), Path("/tmp/evil.txt").exists()
    yield tmp_path
    assert _state(tmp_path) == before
    assert Path("/tmp/evil.txt").exists() == evil


def _state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(file.relative_to(folder)): (
            file.stat().st_mtime_ns,
            file.read_bytes() if file.is_file() else b"",
        )
        for file in folder.rglob("*")
        if file.name != "temporary"  # the host's own folder comes and goes in it
    }


@asynccontextmanager
async def _sandbox(limits: ReadLimits = LIMITS) -> AsyncIterator[Sandbox]:
    """One that leaves no process."""
    before = set(psutil.Process().children(recursive=True))
    sandbox = Sandbox(limits, processes=AT_ONCE)
    yield sandbox
    await sandbox.aclose()
    left = set(psutil.Process().children(recursive=True)) - before
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in left):
        await asyncio.sleep(0.01)  # pytest's own limit ends it if one stays


async def _outcomes(
    files: Iterable[tuple[str, str, bytes]], limits: ReadLimits = LIMITS
) -> dict[str, Outcome]:
    """The outcome of each (name, kind, bytes)."""
    found: dict[str, Outcome] = {}
    waiting = iter(files)

    async def work(sandbox: Sandbox) -> None:
        for name, kind, data in waiting:
            try:
                found[name] = await sandbox.read(kind, data)
            except UnreadableFile as unreadable:
                found[name] = str(unreadable)

    async with _sandbox(limits) as sandbox:
        await asyncio.gather(*(work(sandbox) for _ in range(AT_ONCE)))
    return found


def _faults(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes that are neither a text with content nor a reason in one line, or tell more."""
    return {name: outcome for name, outcome in outcomes.items() if not _is_sound(outcome)}


def _is_sound(outcome: Outcome) -> bool:
    if isinstance(outcome, ReadText):
        told = outcome.text + str(outcome.sections)
        return bool(outcome.text.strip()) and SECRET not in told
    ours = re.search(r"Import|ModuleNotFound|Permission|killed twice", outcome)
    return bool(outcome.strip()) and "\n" not in outcome and SECRET not in outcome and not ours


async def _read_all_hostile(tree: Path, bomb: int, limits: ReadLimits) -> dict[str, Outcome]:
    made = hostile(str(tree / "work" / "secret.txt"), bomb)
    files = ((name, kind, make()) for name, (kind, make) in made.items())
    outcomes = await _outcomes(files, limits)
    assert outcomes.keys() == made.keys()
    return outcomes


async def test_sound_files_are_read(tree: Path) -> None:
    """The limits of these tests are none for a sound file."""
    outcomes = await _outcomes((kind, kind, data) for kind, data in samples().items())
    assert not {kind: outcome for kind, outcome in outcomes.items() if isinstance(outcome, str)}


async def test_files_made_to_harm_are_read_or_refused(tree: Path) -> None:
    outcomes = await _read_all_hostile(tree, 1 << 29, LIMITS)
    assert _faults(outcomes) == {}
    refused = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, str)}
    bombs = [name for name in outcomes if "zeros" in name or "an end" in name or "nothing" in name]
    assert len(bombs) > 20 and not set(bombs) - refused.keys()
    assert "password" in refused["pdf: encrypted"]
    assert "delete those far from the rest" in refused["xlsx: cells in far corners"]


async def test_damaged_files_are_read_or_refused(tree: Path) -> None:
    assert _faults(await _read_mutants(60)) == {}


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_bombs_of_10_gb_are_refused_within_the_usual_limits(tree: Path) -> None:
    assert _faults(await _read_all_hostile(tree, 10 << 30, ReadLimits(seconds=30))) == {}


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_2000_damaged_files_are_read_or_refused(tree: Path) -> None:
    assert _faults(await _read_mutants(2000)) == {}


async def _read_mutants(count: int) -> dict[str, Outcome]:
    """The outcomes of ``count`` damaged files, of which some were read and some not."""
    files = ((f"{number} {kind}", kind, data) for number, (kind, data) in enumerate(mutants(count)))
    outcomes = await _outcomes(files)
    assert len(outcomes) == count
    read = Counter(isinstance(outcome, ReadText) for outcome in outcomes.values())
    assert read[True] and read[False]  # else the damage says nothing
    return outcomes


async def test_a_picture_by_another_name_is_refused(tree: Path) -> None:
    """By every reader but that of HTML, which makes of bytes what browsers do."""
    outcomes = await _outcomes((kind, kind, GIF) for kind in samples())
    assert {kind for kind, outcome in outcomes.items() if isinstance(outcome, ReadText)} <= {"html"}
