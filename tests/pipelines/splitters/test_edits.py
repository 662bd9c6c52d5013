"""Chunk boundaries follow the text: an edit changes the chunks near it and no others."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from llama_index.core.schema import Document

from pipelines.splitters import SectionSplitter
from tests.support.texts import paragraphs

PLACES = [pytest.param(50, 300, marks=pytest.mark.soak), (4, 60)]  # 4: each kind of edit once
MOST = 12
"""Chunks of 500 tokens that one edited paragraph may change."""

Edit = Callable[[list[str], int], None]


def _reworded(parts: list[str], at: int) -> None:
    parts[at] = f"Here stands a sentence that was not there before. {parts[at]}"


def _shortened(parts: list[str], at: int) -> None:
    parts[at] = parts[at][: len(parts[at]) // 2]


def _inserted(parts: list[str], at: int) -> None:
    parts.insert(at, "A paragraph of its own, about something else entirely. " * 12)


def _deleted(parts: list[str], at: int) -> None:
    del parts[at]


def node_ids(parts: list[str], between: str) -> set[str]:
    document = Document(text=between.join(parts), metadata={"title": "T", "source_uri": "a.txt"})
    return {node.node_id for node in SectionSplitter()([document])}


# paragraphs, lines, and one paragraph without an end
@pytest.mark.parametrize("between", ["\n\n", "\n", " "])
@pytest.mark.parametrize(("places", "pages"), PLACES)
def test_one_edited_paragraph_of_many_pages_changes_few_chunks(
    places: int, pages: int, between: str
) -> None:
    parts = paragraphs(5 * pages)
    assert 2_800 < sum(map(len, parts)) / pages < 3_400
    before = node_ids(parts, between)
    assert len(before) > pages > 4 * MOST
    edits: list[Edit] = [_reworded, _shortened, _inserted, _deleted]
    source = random.Random(5)
    last = len(parts) - 1
    for number, at in enumerate([0, *source.sample(range(1, last), places - 2), last]):
        edited = list(parts)
        edits[number % 4](edited, at)
        after = node_ids(edited, between)
        changed = len(after - before)
        assert after != before and changed <= MOST, f"{number}: {at}"
