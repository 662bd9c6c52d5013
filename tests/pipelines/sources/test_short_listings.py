"""A listing that fails, or falls short, in two hundred ways: nothing is deleted by any."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

import pipelines.sources.retries
from helix.providers.retries import RetryPolicy
from pipelines.sources.base import Entry, SourceBusy, SourceError
from pipelines.sources.comparison import FEW
from tests.support.fake_embedder import opened
from tests.support.scripted_source import QuickSyncs, ScriptedSource
from tests.support.worker_runs import settings

WAYS = 200
FILES = 30
Listing = Callable[[list[Entry]], Iterator[Entry]]


def _fails_after(count: int, error: SourceError) -> Listing:
    def listing(entries: list[Entry]) -> Iterator[Entry]:
        yield from entries[:count]
        raise error

    return listing


def _ends_after(count: int) -> Listing:
    return lambda entries: iter(entries[:count])


def _without(some: set[int]) -> Listing:
    return lambda entries: (entry for n, entry in enumerate(entries) if n not in some)


def _of_others(count: int) -> Listing:
    """A part of it, and what is no name of a file."""
    strange = [Entry(""), Entry("a\x00.md"), Entry("k" * 2000), Entry("other.bin")]
    return lambda entries: iter([*entries[:count], *strange, *entries[:count]])


def _say_what_is(_: str, there: bool) -> bool:
    return there


def _say_nothing(_: str, there: bool) -> bool:
    raise SourceError("the server does not answer")


def _say_all_is_gone(_: str, there: bool) -> bool:
    return False


def _way(chance: random.Random) -> tuple[Listing, Callable[[str, bool], bool]]:
    """One way: what is listed, and what the source says when it is asked of one."""
    count = chance.randrange(FILES)
    errors = (
        SourceError("reset by peer"),
        SourceBusy("slow down", chance.choice((None, 0.0, 999))),
    )
    short = (_ends_after(count), _without(set(chance.sample(range(FILES), FILES - count))),
             _of_others(count))  # fmt: skip
    if chance.random() < 0.4:
        return _fails_after(count, chance.choice(errors)), chance.choice(
            (_say_what_is, _say_nothing, _say_all_is_gone)
        )
    waits = FILES - count > max(FILES // 5, FEW)  # a share, which waits for a yes
    if waits and chance.random() < 0.5:
        return chance.choice(short), _say_all_is_gone
    return chance.choice(short), chance.choice((_say_what_is, _say_nothing))


async def test_two_hundred_ways_delete_nothing(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = RetryPolicy(attempts=2, first_wait=0.0, longest_wait=1.0, budget=1.0)
    monkeypatch.setattr(pipelines.sources.retries, "BUSY_POLICY", hasty)
    chance = random.Random(35)
    source = ScriptedSource({f"{n}.md": f"Crate {n}.".encode() for n in range(FILES)})
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
        assert syncs.sync() == ""
        before = syncs.documents()
        assert len(before) == FILES
        for way in range(WAYS):
            source.listing, source.asked = _way(chance)
            if chance.random() < 0.2:  # and some of it changed, or is new
                source.files[f"{chance.randrange(FILES)}.md"] = f"Changed in {way}.".encode()
            syncs.failing = SourceError("no route to host") if chance.random() < 0.05 else None
            syncs.sync(dry_run=chance.random() < 0.1)
            assert syncs.documents() == before, way
        # whole again, it is in step, and what is gone goes
        source.listing, source.asked, syncs.failing = iter, _say_what_is, None
        del source.files["7.md"]
        assert syncs.sync() == ""
        assert syncs.documents().keys() == before.keys() - {"7.md"}


async def test_a_file_that_moved_while_the_listing_failed_keeps_its_document(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a listing shows it at its new place alone: it is no new document."""
    source = ScriptedSource({f"{n}.md": f"Crate {n}.".encode() for n in range(3)})
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
        syncs.sync()
        before = syncs.documents()
        source.files["moved.md"] = source.files.pop("2.md")
        source.listing = _fails_after(3, SourceError("reset by peer"))
        assert syncs.sync() == "reset by peer"
        assert syncs.documents() == before
        source.listing = iter
        assert syncs.sync() == ""
        assert syncs.documents() == {
            "0.md": before["0.md"], "1.md": before["1.md"], "moved.md": before["2.md"]
        }  # fmt: skip


async def test_a_busy_source_is_asked_again_and_then_whole(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([SourceBusy("slow down", 0.01), None])
    source = ScriptedSource({f"{n}.md": f"Crate {n}.".encode() for n in range(3)})

    def listing(entries: list[Entry]) -> Iterator[Entry]:
        yield entries[0]
        if error := next(answers, None):
            raise error
        yield from entries[1:]

    source.listing = listing
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
        assert syncs.sync() == ""
        assert len(syncs.documents()) == 3


async def test_a_source_that_goes_in_the_midst_of_reading_keeps_what_came(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource({f"{n}.md": f"Crate {n}.".encode() for n in range(4)})
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        read = source.read

        def failing(entry: Entry) -> bytes:
            if len(source.reads) == 2:
                raise SourceError("reset by peer")
            return read(entry)

        async with opened(database_url) as store:
            syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
            patch.setattr(source, "read", failing)
            source.asked = _say_nothing
            assert syncs.sync() == "the server does not answer"
            assert len(syncs.documents()) == 2
            patch.undo()
            source.asked = _say_what_is
            assert syncs.sync() == ""
            assert len(syncs.documents()) == 4
