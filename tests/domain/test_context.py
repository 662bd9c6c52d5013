"""Hits to numbered sources: what is joined, what only repeats, and what the budget leaves out."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.utils import get_tokenizer

from helix.domain import context
from helix.domain.citations import cite, place
from helix.domain.context import APART, MAX_SOURCES, MAX_TOKENS, Source, count_tokens
from helix.domain.prompt import user_turn
from helix.domain.records import Hit
from pipelines.splitters import chunk_spans
from tests.support.texts import paragraphs

sources_of = partial(context.sources_of, apart=0)
"""Here hits are joined however few they are."""

TEXT = "The first part.The second part. The third part."
WORDS = " ".join(paragraphs(12)).lower().replace(".", "").split()


def hit(number: int, start: int, end: int, text: str = TEXT, document: int = 1) -> Hit:
    """The chunk ``number``: the slice ``start:end`` of the document's text."""
    content = text[start:end]
    end = start + len(content)
    return Hit(number, document, f"Title {document}", "a", start, content, start, end, "node", 0.1)


def alone(number: int, text: str) -> Hit:
    """All of a document of its own."""
    return hit(number, 0, len(text), text, document=number)


def taken(hits: list[Hit], **limits: Any) -> list[list[int]]:
    """The chunks of each source."""
    return [[h.chunk_id for h in source.hits] for source in sources_of(hits, **limits)]


def words(count: int, **exchanged: str) -> str:
    """Running text, each word once; ``w7="not"`` puts another in place of the seventh."""
    chosen = [f"{WORDS[n % 90]}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count)]
    for place_of, word in exchanged.items():
        chosen[int(place_of[1:])] = word
    return " ".join(chosen)


# What is joined


def test_overlapping_hits_are_one_source_that_has_the_shared_text_once() -> None:
    later, other, earlier = hit(7, 10, 31), alone(8, "Something else."), hit(9, 0, 20)
    first, second = sources_of([later, other, earlier])
    assert first == Source(later, (earlier, later), TEXT[:31], 0, 31)
    assert second.content == "Something else."


def test_hits_that_touch_are_one_source() -> None:
    (source,) = sources_of([hit(1, 0, 15), hit(2, 15, 31)])
    assert (source.content, source.start_char, source.end_char) == (TEXT[:31], 0, 31)


def test_a_gap_is_never_filled_with_characters_that_nobody_has_seen() -> None:
    assert taken([hit(1, 15, 31), hit(2, 32, 47)]) == [[1], [2]]


def test_a_hit_that_fills_the_gap_between_two_sources_makes_one_in_the_better_place() -> None:
    hits = [alone(1, "Best."), hit(2, 30, 40), alone(3, "Middle."), hit(4, 0, 12), hit(5, 10, 31)]
    sources = sources_of(hits)
    assert [[h.chunk_id for h in source.hits] for source in sources] == [[1], [4, 5, 2], [3]]
    assert (sources[1].chunk_id, sources[1].content) == (2, TEXT[:40])


def test_a_hit_within_another_adds_nothing_but_itself() -> None:
    (source,) = sources_of([hit(1, 0, 31), hit(2, 4, 9)], max_tokens=20, count=len)
    assert (source.content, [h.chunk_id for h in source.hits]) == (TEXT[:31], [1, 2])
    (source,) = sources_of([hit(2, 4, 9), hit(1, 0, 31)])
    assert (source.content, source.chunk_id) == (TEXT[:31], 2)


def test_a_chunk_found_twice_is_taken_once() -> None:
    assert taken([hit(1, 0, 15), hit(1, 0, 15)]) == [[1]]


def test_slices_of_two_documents_are_not_joined() -> None:
    assert taken([hit(1, 0, 20), hit(2, 10, 31, document=2)]) == [[1], [2]]


def test_slices_of_two_versions_of_a_document_are_not_joined() -> None:
    other = TEXT.replace("second", "fourth")
    assert taken([hit(1, 0, 26), hit(2, 15, 47, other)]) == [[1], [2]]
    assert taken([hit(2, 15, 47, other), hit(1, 0, 26)]) == [[2], [1]]
    # of two versions that both agree with what is between, one is joined
    between, before, after = hit(1, 4, 10), hit(2, 0, 26), hit(3, 10, 47, other)
    assert taken([before, after, between]) == [[2, 1], [3]]


@pytest.mark.parametrize("marks", [(None, None), (0, None), (None, 20), (0, 21)])
def test_a_hit_that_does_not_say_where_it_lies_is_a_source_by_itself(marks: Any) -> None:
    unmarked = replace(hit(1, 0, 20), start_char=marks[0], end_char=marks[1])
    sources = sources_of([unmarked, hit(2, 10, 31)])
    assert [source.hits for source in sources] == [(unmarked,), (hit(2, 10, 31),)]
    assert (sources[0].start_char, sources[0].end_char) == (None, None)


def test_the_chunks_of_a_text_give_back_the_stretches_that_they_cover() -> None:
    text = "\n\n".join(paragraphs(30))
    spans = list(chunk_spans(text, 200, 50))
    hits = [hit(n, start, end, text) for n, (start, end) in enumerate(spans)]
    random.Random(5).shuffle(hits)
    sources = sources_of(hits, max_tokens=10**6, max_sources=99)
    stretches = 1 + sum(later[0] > end for (_, end), later in pairwise(spans))
    assert len(sources) == stretches < len(hits) / 2
    assert all(s.content == text[s.start_char : s.end_char] for s in sources)
    assert sum(len(s.content.split()) for s in sources) == len(text.split())


# What only repeats


@pytest.mark.parametrize(
    "copy",
    ["refunds take 30 days ok", "Refunds  take\n30 days, ok!", "**Refunds** take “30” days | ok |"],
)
def test_the_same_words_in_another_document_are_left_out(copy: str) -> None:
    assert taken([alone(1, "Refunds take 30 days. OK"), alone(2, copy)]) == [[1]]


def test_a_near_duplicate_is_left_out_and_what_differs_more_is_not() -> None:
    few = dict.fromkeys(["w10", "w90", "w170", "w250"], "elsewhere")
    many = {**few, "w50": "elsewhere", "w130": "elsewhere"}
    original = alone(1, words(300))
    assert taken([original, alone(2, words(300, **few))]) == [[1]]
    assert taken([alone(2, words(300, **few)), original]) == [[2]]
    assert taken([original, alone(2, words(300, **many))]) == [[1], [2]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30", "14"),
        ("2023", "2024"),
        ("ab-12", "ab-13"),
        ("v1.5", "v1.6"),
        ("5", "-5"),
        ("5", ".5"),
        ("5", "5%"),
        ("(5)", "5"),
        ("5'", '5"'),
        ("<30", ">30"),
        ("€30", "$30"),
        ("€", "$"),
        ("Acme", "Initech"),
        ("accepted", "not"),
        ("can", "cannot"),
        ("can", "can't"),
        ("退款", "30退款"),
    ],
)
def test_texts_alike_but_for_a_fact_are_both_kept(one: str, other: str) -> None:
    hits = [alone(1, words(300, w150=one)), alone(2, words(300, w150=other))]
    assert taken(hits) == [[1], [2]]
    assert taken(hits[::-1]) == [[2], [1]]


def test_two_numbers_that_change_places_are_two_facts() -> None:
    hits = [alone(1, words(300, w100="5", w200="6")), alone(2, words(300, w100="6", w200="5"))]
    assert taken(hits) == [[1], [2]]


def test_rows_of_a_table_are_all_kept() -> None:
    rows = [f"Name: Widget | Colour: blue | Price: {n} | Stock: many" for n in range(9)]
    assert taken([alone(n, row) for n, row in enumerate(rows)]) == [[n] for n in range(9)]


def test_short_texts_that_differ_in_a_word_are_both_kept() -> None:
    assert taken([alone(1, "gift cards expire"), alone(2, "gift cards last")]) == [[1], [2]]


def test_what_a_better_source_contains_is_left_out_but_not_what_contains_it() -> None:
    short, long = alone(1, "Gift cards  cannot be refunded."), alone(2, "So: gift cards cannot be "
        "refunded, and sale items can be exchanged only.")  # fmt: skip
    assert taken([long, short]) == [[2]]
    assert taken([short, long]) == [[1], [2]]
    assert taken([long, alone(3, "Gift card")]) == [[2], [3]], "words are whole"


def test_a_copy_cut_elsewhere_repeats_the_stretch_that_it_lies_in() -> None:
    text = words(90)
    start, middle, end = (text.index(text.split()[n]) for n in (15, 45, 75))
    hits = [hit(1, 0, middle + 40, text), hit(2, middle - 40, len(text), text)]
    assert taken([*hits, hit(3, start, end, text, document=2)]) == [[1, 2]]


def test_a_copy_of_each_chunk_of_a_stretch_is_left_out() -> None:
    text, edited = words(600), words(600, w100="elsewhere", w500="elsewhere")
    cuts = [(0, 2400), (2300, len(text))]
    first = [hit(n, *cut, text) for n, cut in enumerate(cuts)]
    copies = [hit(n + 2, *cut, edited, document=2) for n, cut in enumerate(cuts)]
    assert taken([first[0], copies[0], first[1], copies[1]]) == [[0, 1]]
    assert taken([first[0], copies[1], first[1], copies[0]]) == [[0], [3]], "a neighbour too"


def test_a_neighbour_that_repeats_is_left_out() -> None:
    text = "No smoking in here.No smoking in here.No running."
    assert taken([hit(1, 0, 19, text), hit(2, 19, 38, text)]) == [[1]]


def test_marks_without_words_say_nothing_new() -> None:
    assert taken([alone(1, "Refunds take long."), alone(2, " *** \n"), alone(3, "…")]) == [[1]]


# The budget


def test_what_does_not_fit_is_left_out_and_a_smaller_one_comes_in() -> None:
    hits = [alone(1, "a" * 60), alone(2, "b" * 41), alone(3, "c" * 40), alone(4, "d")]
    assert taken(hits, max_tokens=100, count=len) == [[1], [3]]


def test_the_first_comes_in_whole_and_alone_if_it_is_over_the_budget() -> None:
    hits = [alone(1, "a" * 60), alone(2, "b")]
    assert [s.content for s in sources_of(hits, max_tokens=59, count=len)] == ["a" * 60]
    assert taken(hits, max_tokens=0, max_sources=0, count=len) == [[1]]
    assert sources_of([]) == []


def test_no_more_than_so_many_sources_but_a_neighbour_is_none_of_its_own() -> None:
    hits = [hit(1, 0, 20), alone(2, "Two."), alone(3, "Three."), hit(4, 10, 31)]
    assert taken(hits, max_sources=2) == [[1, 4], [2]]
    many = [alone(n, f"Number {n}.") for n in range(20)]
    assert len(sources_of(many)) == MAX_SOURCES


def test_a_neighbour_that_does_not_fit_leaves_its_source_as_it_is() -> None:
    hits = [hit(1, 0, 20), hit(2, 10, 31), alone(3, "d" * 10)]
    assert taken(hits, max_tokens=30, count=len) == [[1], [3]]
    # what it shares counts once: 20, then 11 more, then 10
    assert taken(hits, max_tokens=31, count=len) == [[1, 2]]
    assert taken(hits, max_tokens=41, count=len) == [[1, 2], [3]]


def test_both_ends_of_what_lies_around_a_source_are_counted() -> None:
    hits = [hit(1, 10, 20), hit(2, 0, 31)]
    assert taken(hits, max_tokens=30, count=len) == [[1]]
    assert taken(hits, max_tokens=31, count=len) == [[2, 1]]


def test_twelve_chunks_of_500_tokens_fit() -> None:
    text = " ".join(paragraphs(110))
    encoding = get_tokenizer()
    hits = [alone(n, text[n * 2700 : (n + 1) * 2700]) for n in range(12)]
    assert 400 < len(encoding(hits[0].content)) < 500
    assert len(sources_of(hits)) == 12
    assert sum(len(encoding(s.content)) for s in sources_of(hits)) <= MAX_TOKENS


@pytest.mark.parametrize("text", ["", "Refunds take 30 days.", "退款 naïve 👩‍👩‍👧", TEXT * 20])
def test_tokens_are_counted_as_the_splitter_counts_them(text: str) -> None:
    assert count_tokens(text) == len(get_tokenizer()(text))


def test_a_long_run_and_the_spelling_of_a_special_token_count_as_text() -> None:
    assert count_tokens("<|endoftext|>") > 1
    text = "退a" * 20_000
    exact = len(get_tokenizer()(text))
    assert exact <= count_tokens(text) <= exact + len(text) / 1200


# What holds for any hits

PIECES = st.sampled_from("Refunds refunds take 30 14 days not a b b . | \n € AB-1".split(" "))


@st.composite
def found(draw: st.DrawFn) -> tuple[dict[int, str], list[Hit]]:
    """Texts by document, and slices of them as hits; some do not say where they lie."""
    texts = {n: " ".join(draw(st.lists(PIECES, min_size=1, max_size=16))) for n in range(3)}
    texts[2] = draw(st.sampled_from([texts[1], texts[2]]))
    hits = []
    for number in range(draw(st.integers(1, 9))):
        document = draw(st.integers(0, 2))
        start = draw(st.integers(0, len(texts[document]) - 1))
        found_hit = hit(number, start, start + draw(st.integers(1, 40)), texts[document], document)
        unmarked = replace(found_hit, start_char=None, end_char=None)
        hits.append(draw(st.sampled_from([found_hit, found_hit, found_hit, unmarked])))
    return texts, hits


def used(hits: list[Hit], **limits: Any) -> list[Hit]:
    """The hits that are in a source, in the order of ``hits``."""
    kept = {h.chunk_id for source in sources_of(hits, count=len, **limits) for h in source.hits}
    return [h for h in hits if h.chunk_id in kept]


@given(found(), st.integers(0, 120), st.integers(0, 6))
def test_sources_are_slices_apart_from_each_other(
    case: tuple[dict[int, str], list[Hit]], max_tokens: int, max_sources: int
) -> None:
    texts, hits = case
    sources = sources_of(hits, max_tokens=max_tokens, max_sources=max_sources, count=len)
    places = []
    for source in sources:
        if source.start_char is None or source.end_char is None:
            assert source.hits == (source.hit,) and source.content == source.hit.content
            continue
        text = texts[source.document_id]
        assert source.content == text[source.start_char : source.end_char]
        assert all(h.document_id == source.document_id for h in source.hits)
        assert all(h.start_char is not None and h.content in source.content for h in source.hits)
        assert list(source.hits) == sorted(source.hits, key=lambda h: h.start_char or 0)
        places.append((source.document_id, source.start_char, source.end_char))
    places.sort()
    for one, other in pairwise(places):
        assert one[0] != other[0] or one[2] < other[1]


@given(found(), st.integers(0, 120), st.integers(0, 6))
def test_best_first_within_the_budget(
    case: tuple[dict[int, str], list[Hit]], max_tokens: int, max_sources: int
) -> None:
    _, hits = case
    sources = sources_of(hits, max_tokens=max_tokens, max_sources=max_sources, count=len)
    ranks = [min(hits.index(h) for h in source.hits) for source in sources]
    assert ranks == sorted(ranks) and ranks[0] == 0
    assert [hits[rank] for rank in ranks] == [source.hit for source in sources]
    assert len(sources) <= max(max_sources, 1)
    total = sum(len(source.content) for source in sources)
    assert total <= max_tokens or [s.content for s in sources] == [hits[0].content]


@given(found(), st.integers(0, 120), st.integers(0, 6))
def test_the_hits_used_make_the_same_sources_again(
    case: tuple[dict[int, str], list[Hit]], max_tokens: int, max_sources: int
) -> None:
    _, hits = case
    limits: dict[str, Any] = {"max_tokens": max_tokens, "max_sources": max_sources}
    once = sources_of(hits, count=len, **limits)
    assert sources_of(used(hits, **limits), count=len, **limits) == once


@given(found(), st.integers(0, 120), st.integers(0, 6))
def test_no_hit_pushes_out_a_better_one(
    case: tuple[dict[int, str], list[Hit]], max_tokens: int, max_sources: int
) -> None:
    _, hits = case
    limits = {"max_tokens": max_tokens, "max_sources": max_sources}
    better = hits[: len(hits) // 2 + 1]
    assert used(better, **limits) == [h for h in used(hits, **limits) if h in better]


@given(found())
def test_no_number_is_lost_as_a_repetition(case: tuple[dict[int, str], list[Hit]]) -> None:
    _, hits = case
    sources = sources_of(hits, max_tokens=10**6, max_sources=99)
    for one in hits:
        numbers = {word for word in one.content.split() if any(c.isdigit() for c in word)}
        assert any(all(n in source.content for n in numbers) for source in sources)


# Together with the rest


def test_a_source_is_what_the_prompt_and_a_citation_need() -> None:
    (source,) = sources_of([replace(hit(7, 10, 31), label="page 2"), hit(9, 0, 20)])
    assert f"[1] (id=7) {TEXT[:31]}\n" in user_turn("What?", [source])
    (citation,) = cite("The second. [1]", [source.hit])
    assert (citation["chunk_id"], citation["snippet"]) == (7, TEXT[10:31])
    assert place(source.hit) == "Title 1, page 2"


def test_a_few_hits_stay_apart_although_they_touch() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    cuts = [n * 20 for n in range(APART + 2)]
    every = [
        Hit(n, 1, "T", "t.txt", n, text[a : b + 5], a, b + 5, f"n{n}", 0.1)
        for n, (a, b) in enumerate(pairwise(cuts))
    ]
    few = context.sources_of(every[:APART])
    assert [[source.hit] for source in few] == [list(source.hits) for source in few]
    assert [source.content for source in few] == [hit.content for hit in every[:APART]]
    assert len(context.sources_of(every)) == 1
