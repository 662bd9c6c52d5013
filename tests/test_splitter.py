"""The sentence splitter: whatever the text, its chunks are slices that lose and repeat nothing."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.schema import Document, MetadataMode, TextNode
from llama_index.core.utils import get_tokenizer

from pipelines.splitters.sentences import SentenceChunker, chunk_spans

WORDS = st.sampled_from(
    "Refunds are accepted within 30 days. e.g. Dr. 1. - # ... !? a 退款 原则。 naïve 👩‍👩‍👧 é ”)"
    " [3] https://x.example/a?b=c 1234567 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa <|endoftext|>"
    " antidisestablishmentarianism".split()
)
PROSE = st.lists(
    st.tuples(WORDS, st.sampled_from([" ", " ", " ", "\n", "\n\n", "\r\n", "  ", "", "\n" * 40])),
    max_size=120,
).map(lambda parts: "".join(word + space for word, space in parts))
ANY_TEXT = st.text(max_size=400)
DULL = st.tuples(st.sampled_from("a!.😀 \n退–\u200b"), st.integers(0, 3000)).map(
    lambda p: p[0] * p[1]
)
TEXTS = st.one_of(PROSE, ANY_TEXT, DULL, st.lists(st.one_of(PROSE, DULL)).map("".join))
SIZES = st.tuples(st.integers(16, 120), st.integers(0, 60))

LEEWAY = 2
"""Tokens that a word at the start of a slice may take more than after its space, as it stood."""

tokenize = get_tokenizer()


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_no_chunk_exceeds_the_limit(text: str, sizes: tuple[int, int]) -> None:
    for start, end in chunk_spans(text, *sizes):
        tokens = len(tokenize(text[start:end]))
        assert tokens <= sizes[0] + LEEWAY or end - start == 1


@settings(max_examples=200, deadline=None)
@given(TEXTS, SIZES)
def test_an_overlap_is_within_its_limit_and_never_a_whole_chunk(
    text: str, sizes: tuple[int, int]
) -> None:
    spans = list(chunk_spans(text, *sizes))
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start and end < next_end
        if next_start < end:
            assert len(tokenize(text[next_start:end])) <= sizes[1] + LEEWAY


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
    pytest.param(unit, marks=pytest.mark.soak) for unit in ("Dr. ", "!", "退", "😀", "1", "[](")
]


@pytest.mark.parametrize("unit", ["a", "word ", *SOAK])
def test_five_megabytes_in_one_line_end_in_time(unit: str) -> None:
    text = unit * (5 * 2**20 // len(unit.encode()))
    started = time.perf_counter()
    spans = list(chunk_spans(text, 500, 50))
    # 1 to 12 s here; quadratic time would take hours
    assert time.perf_counter() - started < 60
    assert (spans[0][0], spans[-1][1]) == (0, len(text.rstrip()))
    assert max(end - start for start, end in spans) <= 4000


def chunks_of(text: str, source_uri: str = "a.txt") -> list[TextNode]:
    document = Document(
        text=text,
        metadata={"title": "T", "source_uri": source_uri},
        excluded_embed_metadata_keys=["source_uri"],
    )
    nodes = SentenceChunker(chunk_tokens=16, overlap_tokens=4)([document])
    return [node for node in nodes if isinstance(node, TextNode)]


def test_nodes_know_their_place_even_of_a_repeated_passage() -> None:
    text = "The same passage, word for word, again and again and again and once more. " * 9
    nodes = chunks_of(text)
    assert len(nodes) > 8
    for ordinal, node in enumerate(nodes):
        start, end = node.metadata["start_char"], node.metadata["end_char"]
        assert (node.start_char_idx, node.end_char_idx) == (start, end)
        assert node.metadata["ordinal"] == ordinal
        assert text[start:end] == node.text
    assert len({node.node_id for node in nodes}) == len(nodes)
    assert len({node.metadata["start_char"] for node in nodes}) == len(nodes)


def test_node_ids_are_the_same_every_time_and_other_for_another_source() -> None:
    text = "One sentence of some words here. " * 8 + "Another one, of other words, there. " * 8
    ids = [node.node_id for node in chunks_of(text)]
    assert ids == [node.node_id for node in chunks_of(text)]
    assert not set(ids) & {node.node_id for node in chunks_of(text, "b.txt")}
    longer = [node.node_id for node in chunks_of(text + "And an end that was not there before.")]
    assert set(ids[:-1]) <= set(longer), "what did not change keeps its id"


def test_the_title_is_embedded_and_the_rest_of_the_metadata_is_not() -> None:
    [node] = chunks_of("Refunds take 5 days.", "secret/path.txt")
    assert node.get_content(MetadataMode.EMBED) == "T\n\nRefunds take 5 days."
    assert node.get_content(MetadataMode.LLM) == "Refunds take 5 days."
    assert node.get_content(MetadataMode.NONE) == "Refunds take 5 days."


async def test_the_async_way_gives_the_same() -> None:
    document = Document(text="One. Two. Three.", metadata={"source_uri": "a.txt"})
    chunker = SentenceChunker()
    assert [n.node_id for n in await chunker.acall([document])] == [
        n.node_id for n in chunker([document])
    ]
