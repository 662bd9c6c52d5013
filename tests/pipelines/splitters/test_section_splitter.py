"""Splitting text without sections: whatever the text, chunks are slices that lose nothing."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from llama_index.core.utils import get_tokenizer

from pipelines.splitters import chunk_spans
from tests.support.texts import SIZES, TEXTS

LEEWAY = 2
"""Tokens that a word at the start of a slice may take more than after its space, as it stood."""

tokenize = get_tokenizer()


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_chunks_are_ordered_slices_that_cover_every_visible_character(
    text: str, sizes: tuple[int, int]
) -> None:
    spans = list(chunk_spans(text, *sizes))
    covered = 0
    last_start = -1
    for start, end in spans:
        content = text[start:end]
        assert content and content == content.strip()
        assert start > last_start, "each chunk starts after the one before"
        assert end > covered, "each chunk has something that no chunk before it had"
        assert not text[covered:start].strip(), "nothing visible lies between two chunks"
        last_start, covered = start, end
    assert not text[covered:].strip()
    assert bool(spans) == bool(text.strip())


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_no_chunk_exceeds_the_limit(text: str, sizes: tuple[int, int]) -> None:
    for start, end in chunk_spans(text, *sizes):
        tokens = len(tokenize(text[start:end]))
        assert tokens <= sizes[0] + LEEWAY or end - start == 1


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_an_overlap_is_within_its_limit_and_never_a_whole_chunk(
    text: str, sizes: tuple[int, int]
) -> None:
    spans = list(chunk_spans(text, *sizes))
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start and end < next_end
        if next_start < end:
            assert len(tokenize(text[next_start:end])) <= sizes[1] + LEEWAY


def test_chunks_of_prose_are_well_filled_and_overlap() -> None:
    text = " ".join(f"Sentence number {n} says a thing of its own, or two." for n in range(2000))
    spans = list(chunk_spans(text, 500, 50))
    sizes = [len(tokenize(text[start:end])) for start, end in spans]
    assert min(sizes) > 200 and sum(sizes) / len(sizes) > 400
    overlaps = [len(tokenize(text[start:end])) for (_, end), (start, _) in pairwise(spans)]
    assert min(overlaps) > 25, "whole sentences of about 14 tokens"


def test_what_fits_is_one_chunk() -> None:
    sentence = "It fits in one chunk as it is. "
    text = (sentence * 200)[: len(sentence) * 55]  # between what two halves and one chunk hold
    assert 450 < len(tokenize(text)) <= 500
    assert len(list(chunk_spans(text, 500, 50))) == 1


@pytest.mark.parametrize("gap", [" " * 100_000, "\n" * 100_000, "\n \t" * 30_000])
def test_white_space_counts_towards_the_limit(gap: str) -> None:
    text = f"Before the gap.{gap}\nAfter the gap."
    assert [text[start:end] for start, end in chunk_spans(text, 500, 50)] == [
        "Before the gap.",
        "After the gap.",
    ]
    lines = "\n\n\n\n".join("ab" for _ in range(3000))
    assert max(len(tokenize(lines[a:b])) for a, b in chunk_spans(lines, 500, 50)) <= 500


SOAK = [
    pytest.param(unit, 5, marks=pytest.mark.soak)
    for unit in ("a", "word ", "Dr. ", "!", "退", "😀", "1", "[](")
]


@pytest.mark.parametrize(("unit", "megabytes"), [("a", 1), ("word ", 1), *SOAK])
def test_megabytes_in_one_line_end_in_time(unit: str, megabytes: int) -> None:
    text = unit * (megabytes * 2**20 // len(unit.encode()))
    started = time.process_time()
    spans = list(chunk_spans(text, 500, 50))
    # five take 1 to 12 s here; quadratic time would take hours
    assert time.process_time() - started < 60
    assert (spans[0][0], spans[-1][1]) == (0, len(text.rstrip()))
    assert max(end - start for start, end in spans) <= 4000


def test_a_megabyte_of_blank_lines_is_no_chunk_and_hides_none() -> None:
    blank = "\n" * 2**20
    assert list(chunk_spans(blank, 500, 50)) == []
    text = f"{blank}Found.{blank}"
    assert [text[start:end] for start, end in chunk_spans(text, 500, 50)] == ["Found."]
