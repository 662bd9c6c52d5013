"""Answers in blocks as plain text: markers, lists, tables, code, refusals, any cut of the JSON."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.answering.form import BlockReader, answer_schema, block_texts
from helix.answering.form.schema import KINDS
from helix.answering.proof.statements import statements_of
from helix.domain.citations import marker_numbers
from helix.domain.contract import REFUSAL
from helix.errors import UpstreamError
from tests.serving.test_sse import cut

Block = dict[str, Any]


def block(text: str, *sources: int, kind: str = "paragraph") -> Block:
    return {"kind": kind, "text": text, "sources": list(sources)}


def item(text: str, *sources: int) -> Block:
    return block(text, *sources, kind="list item")


def row(text: str, *sources: int) -> Block:
    return block(text, *sources, kind="table row")


def code(text: str, *sources: int) -> Block:
    return block(text, *sources, kind="code")


def read(pieces: list[str], sources: int = 3) -> str:
    reader = BlockReader(sources)
    return "".join([*map(reader.feed, pieces), reader.end()])


def written(*blocks: Block, sources: int = 3) -> str:
    """The blocks' text, from whole JSON and from single characters of it."""
    text = json.dumps({"blocks": blocks})
    whole = read([text], sources)
    assert read(list(text), sources) == whole
    return whole


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([block("Within 30 days.", 1)], "Within 30 days. [1]"),
        ([block("Within 30 days", 2, 1)], "Within 30 days [2][1]"),
        ([block("One. Two, e.g. this. Three", 1)], "One. [1] Two, e.g. this. [1] Three [1]"),
        ([block("One.", 1), block("Two.", 2)], "One. [1]\n\nTwo. [2]"),
        ([block("These:", 1), item("one", 1), item("- two.", 2)],
         "These: [1]\n\n- one [1]\n- two. [2]"),
        ([item("1. first", 1), item("2. second", 1)], "1. first [1]\n2. second [1]"),
        ([code("x = 1\ny = 2\n", 1)], "```\nx = 1\ny = 2\n```\n[1]"),
        ([code("```python\nx = 1\n```", 1)], "```python\nx = 1\n```\n[1]"),
        ([code("a\n```\nb", 1), block("After.", 2)], "```\na\n    ```\nb\n```\n[1]\n\nAfter. [2]"),
        ([row("Year | Sum", 1), row("---|---", 1), row("| 2024 | 3 |", 1), row("2025\t4", 2)],
         "| Year | Sum |\n| --- | --- |\n| 2024 | 3 [1] |\n| 2025 | 4 [2] |"),
        ([row("Year | Sum", 1), block("After.", 2)], "| Year | Sum [1] |\n\nAfter. [2]"),
    ],
)  # fmt: skip
def test_blocks_in_their_plain_form(blocks: list[Block], text: str) -> None:
    assert written(*blocks) == text


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([block("Here [2].", 2)], "Here [2]."),
        ([block("Here. [2]", 2)], "Here. [2]"),
        ([block("One [1]. Two.", 1, 2)], "One [1]. Two. [1][2]"),
        ([block("One. Two [1].", 1, 2)], "One. [1][2] Two [1]."),
        ([block("Two [1].", 1, 2)], "Two [1]. [2]"),
        ([block("[1] At the front.", 1)], "At the front. [1]"),
        ([block("Beyond [7, 2] all [9].", 1)], "Beyond [2] all. [1]"),
        ([block("[1]", 1), block("Text.", 2)], "Text. [2]"),
        ([block("Text.", 7, 0, -1)], "Text."),
        ([block("Text.", 2, 2, 9, 1)], "Text. [2][1]"),
        ([block("Text.", 1, 2, 3, 1)], "Text. [1][2][3]"),
    ],
)  # fmt: skip
def test_markers_of_its_own_and_numbers_that_no_source_has(blocks: list[Block], text: str) -> None:
    assert written(*blocks) == text


@pytest.mark.parametrize(
    "blocks",
    [[], [block("[1]", 1)], [block(REFUSAL, 1)], [block("  ", 1)], [code("\n", 1)], [row("|", 1)],
     [block("I don’t have that in the provided documents [1].", 1)]],
)  # fmt: skip
def test_nothing_said_is_the_refusal_to_the_byte(blocks: list[Block]) -> None:
    assert written(*blocks) == REFUSAL


def test_a_refusal_beside_an_answer_is_left_out() -> None:
    assert written(block(REFUSAL, 1), block("In 30 days.", 1)) == "In 30 days. [1]"
    assert written(block("In 30 days.", 1), block(REFUSAL, 1)) == "In 30 days. [1]"
    longer = f"{REFUSAL} But see page 3."
    assert written(block(longer, 1)).startswith(REFUSAL + " [1] But")


def test_the_keys_may_come_in_any_order() -> None:
    one = {"sources": [1], "text": "One. Two.", "kind": "list item"}
    assert written(one) == "- One. [1] Two. [1]"
    assert written({"text": "Bare.", "more": {"a": [1]}}) == "Bare."


def test_the_first_words_are_sent_before_their_sources_are_known() -> None:
    reader = BlockReader(2)
    head = '{"blocks":[{"kind":"paragraph","text":"Refunds are accepted '
    assert reader.feed(head) == "Refunds are accepted"
    assert reader.feed("within 30 days") == " within 30 days"
    first = BlockReader(2)
    text = first.feed('{"blocks":[{"kind":"paragraph","sources":[2],"text":"One. ' + "Two " * 30)
    assert text.startswith("One. [2] Two")


@pytest.mark.parametrize("text", ["In 30 days [1].", "", " [1]", "```\ncode\n```", "[{", "```js"])
def test_an_answer_that_is_no_json_is_handed_on(text: str) -> None:
    assert read(list(text)) == read([text]) == text


def test_a_fence_around_the_json_is_taken_off() -> None:
    text = '```json\n{"blocks": [{"kind": "paragraph", "text": "A.", "sources": [1]}]}\n```'
    assert read(list(text)) == read([text]) == "A. [1]"


@pytest.mark.parametrize(
    "text", ["{", '{"blocks": [', '{"blocks": [{"kind": "paragraph", "text": "A', '{"a": 1}']
)
def test_json_that_is_cut_or_of_another_form_is_a_failure(text: str) -> None:
    with pytest.raises(UpstreamError, match="before it was finished"):
        read([text])


def test_broken_json_is_a_failure_that_names_the_setting() -> None:
    with pytest.raises(UpstreamError, match="HELIX_ANSWER_FORM=text"):
        read(['{"blocks": [}'])


_texts = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["Refunds take 5 days. ", "See e.g. p. 3 ", "[1]", "[2, 9]", "[", "\n", "```", "|",
             "- ", "Yes! ", "😀", "。", "I don't have that ", "1. ",
             "in the provided documents.", "…"]
        ),
        max_size=14,
    ).map("".join),
)  # fmt: skip
_blocks = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS), "text": _texts, "sources": st.lists(st.integers(-1, 5))}
)


@settings(max_examples=100)
@given(
    st.lists(_blocks, max_size=5), st.booleans(), st.permutations(["kind", "text", "sources"]),
    st.integers(0, 2**32),
)  # fmt: skip
def test_no_cut_of_the_json_changes_the_answer(
    blocks: list[Block], ascii_only: bool, order: list[str], seed: int
) -> None:
    ordered = [{key: each[key] for key in order} for each in blocks]
    text = json.dumps({"blocks": ordered}, ensure_ascii=ascii_only)
    whole = read([text])
    assert whole and read(list(text)) == whole
    for _ in range(3):
        assert read(cut(text, random.Random(seed))) == whole
    in_code = any(each["kind"] == "code" or "```" in each["text"] for each in blocks)
    assert in_code or all(1 <= n <= 3 for n in marker_numbers(whole))


@given(st.lists(st.sampled_from(["Refunds take 5 days.", "Parcels arrive soon!"]), min_size=1))
def test_every_statement_has_a_marker(sentences: list[str]) -> None:
    text = written(block(" ".join(sentences), 2), item("Ask by letter.", 1))
    found = statements_of(text)
    assert len(found) == len(sentences) + 1
    assert all(each.numbers for each in found)


def test_prose_that_the_answer_has_already_is_left_out() -> None:
    said = block("Within 30 days. By letter.", 1)
    again = [said, block("Within 30 days.", 2), item("Within 30 days. By letter.", 3)]
    assert written(*again) == "Within 30 days. [1] By letter. [1]\n\nWithin 30 days. [2]"
    assert written(row("A | B", 1), row("1 | 2", 1), row("1 | 2", 1)).count("| 1 | 2 [1] |") == 2


async def _deltas(text: str, read: list[str]) -> AsyncGenerator[str, None]:
    for delta in text:
        read.append(delta)
        yield delta


async def test_a_model_that_repeats_itself_is_not_read_on() -> None:
    """Its JSON is not whole then, and its answer stands."""
    turns = [block("Within 30 days.", 1), block("By letter.", 2)]
    text = json.dumps({"blocks": turns * 20})
    read: list[str] = []
    given = "".join([each async for each in block_texts(_deltas(text, read), 3)])
    assert given == "Within 30 days. [1]\n\nBy letter. [2]"
    assert "".join(read) == text[: len(json.dumps({"blocks": turns * 2})) - len("]}")]


def test_the_schema_has_the_numbers_of_the_sources() -> None:
    properties = answer_schema(3)["properties"]["blocks"]["items"]["properties"]
    assert properties["sources"]["items"]["enum"] == [1, 2, 3]
    assert list(properties) == ["kind", "sources", "text"]
