"""Splitting by sections: chunks stay within one, blocks and rows stay whole, nodes say where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.schema import Document, MetadataMode, TextNode
from llama_index.core.utils import get_tokenizer
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

from helix.domain.records import Section
from helix.language.sentences import Span
from pipelines.readers.markdown import structure_of
from pipelines.splitters import SectionSplitter
from pipelines.splitters.pieces import LONGEST_BLOCK
from tests.support.texts import PROSE, SIZES, paragraphs, sectioned

LEEWAY = 2
"""Tokens that a word at the start of a slice may take more than after its space, as it stood."""

tokenize = get_tokenizer()


def split(
    text: str,
    sections: Iterable[Section] = (),
    sizes: tuple[int, int] = (500, 50),
    **metadata: Any,
) -> list[TextNode]:
    document = Document(
        text=text,
        metadata={"title": "T", "source_uri": "a.txt", "sections": tuple(sections), **metadata},
    )
    nodes = SectionSplitter(chunk_tokens=sizes[0], overlap_tokens=sizes[1])([document])
    return [node for node in nodes if isinstance(node, TextNode)]


def spans_of(nodes: Sequence[TextNode]) -> list[Span]:
    return [(node.metadata["start_char"], node.metadata["end_char"]) for node in nodes]


def visible(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("examples", [50, pytest.param(1000, marks=pytest.mark.soak)])
def test_the_chunks_of_sections_reassemble_the_text(examples: int) -> None:
    @settings(max_examples=examples)
    @given(sectioned(), SIZES)
    def holds(drawn: tuple[str, tuple[Section, ...]], sizes: tuple[int, int]) -> None:
        text, sections = drawn
        nodes = split(text, sections, sizes)
        reassembled, covered = "", 0
        for ordinal, (node, (start, end)) in enumerate(zip(nodes, spans_of(nodes), strict=True)):
            assert node.text == text[start:end] == text[start:end].strip() != ""
            assert (node.start_char_idx, node.end_char_idx) == (start, end)
            assert node.metadata["ordinal"] == ordinal
            assert end > covered
            reassembled += text[max(start, covered) : end]
            covered = end
        assert visible(reassembled) == visible(text)
        assert len({node.node_id for node in nodes}) == len(nodes)
        assert [n.node_id for n in nodes] == [n.node_id for n in split(text, sections, sizes)]

    holds()


@pytest.mark.parametrize("examples", [50, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_chunk_stays_within_its_section_its_limit_and_around_blocks(examples: int) -> None:
    @settings(max_examples=examples)
    @given(sectioned(), SIZES)
    def holds(drawn: tuple[str, tuple[Section, ...]], sizes: tuple[int, int]) -> None:
        text, sections = drawn
        nodes = split(text, sections, sizes)
        for node, (start, end) in zip(nodes, spans_of(nodes), strict=True):
            [home] = [s for s in sections if s.start <= start and end <= s.end]
            assert node.metadata["label"] == home.label
            assert node.metadata["heading_path"] == list(home.heading_path)
            assert node.metadata.get("page") == home.page
            blocks = [] if home.rows else home.blocks
            inside = [block for block in blocks if block[0] < end and start < block[1]]
            for block_start, block_end in inside:
                kept = text[block_start:block_end].strip()
                assert kept in node.text
            most = sizes[0] * (1 + home.rows)
            # counted apart, a block may have a token more for every 1,200 characters
            if not any(len(tokenize(text[a:b])) > most - 4 for a, b in inside):
                assert len(tokenize(node.text)) <= most + LEEWAY or end - start == 1

    holds()


FENCES = st.builds(
    lambda mark, extra, lines, indent: _fence(mark * (3 + extra), lines, indent),
    st.sampled_from("`~"),
    st.integers(0, 3),
    st.lists(
        st.sampled_from(["x = 1", "", "```", "~~~", "````", "# no heading", "a. b. c. " * 30]),
        max_size=30,
    ),
    st.sampled_from(["", "   "]),
)


def _fence(mark: str, lines: Sequence[str], indent: str) -> str:
    """A fenced block; a line within that would close it is made part of the code."""
    inside = [f"> {line}" if line.startswith(mark) else line for line in lines]
    return "\n".join(f"{indent}{line}" for line in [f"{mark}python", *inside, mark])


@pytest.mark.parametrize("examples", [25, pytest.param(500, marks=pytest.mark.soak)])
def test_fenced_code_of_markdown_is_never_cut(examples: int) -> None:
    @settings(max_examples=examples)
    @given(st.lists(st.tuples(PROSE, FENCES), min_size=1, max_size=4), st.integers(16, 120))
    def holds(parts: list[tuple[str, str]], chunk_tokens: int) -> None:
        text = ""
        fences: list[str] = []
        for prose, fence in parts:
            words = " ".join(prose.replace("`", " ").replace("~", " ").split())
            text += f"## Part\n\nSee: {words}\n\n{fence}\n\n"
            fences.append(fence.strip())
        nodes = split(text, structure_of(text)[0], (chunk_tokens, 10))
        for fence in fences:
            assert any(fence in node.text for node in nodes)

    holds()


def test_nested_fences_in_lists_and_fences_longer_than_a_chunk_stay_whole() -> None:
    long = "```\n" + "\n".join(f"line_{n} = {n} * {n}" for n in range(400)) + "\n```"
    nested = "`````md\n````\n```\n~~~\n```\n````\n`````"
    listed = "```sh\n  make it\n\n  make it again\n  ```"
    text = f"# A\n\nBefore.\n\n{long}\n\nBetween.\n\n{nested}\n\n- Item:\n\n  {listed}\n- Next.\n"
    nodes = split(text, structure_of(text)[0])
    assert len(tokenize(long)) > 2000
    for fence in (long, nested, listed):
        assert any(fence in node.text for node in nodes)
    [around] = [node.text for node in nodes if nested in node.text]
    assert "Between." in around and "Item:" in around, "a block that fits goes with its prose"


def test_a_block_beyond_the_cap_is_cut_at_line_ends() -> None:
    lines = [f"row {n}, of a file that was pasted, value {n * 7}" for n in range(2000)]
    text = "\n".join(lines)
    assert len(tokenize(text)) > LONGEST_BLOCK
    nodes = split(text, [Section(0, len(text), blocks=((0, len(text)),))])
    assert len(nodes) > 20
    for node in nodes:
        assert set(node.text.splitlines()) <= set(lines)
        assert len(tokenize(node.text)) <= 500


def test_rows_are_one_chunk_to_twice_the_size_and_then_cut_at_line_ends() -> None:
    lines = [f"Region: EMEA | Quarter: Q{n} | Revenue: {n * 137}" for n in range(200)]
    few, many = "\n".join(lines[:40]), "\n".join(lines)
    assert 500 < len(tokenize(few)) <= 1000 < len(tokenize(many))
    assert [n.text for n in split(few, [Section(0, len(few), rows=True)])] == [few]
    nodes = split(many, [Section(0, len(many), rows=True)])
    assert [line for node in nodes for line in node.text.splitlines()] == lines, "no overlap"
    assert max(len(tokenize(node.text)) for node in nodes) <= 1000


def test_a_row_longer_than_a_chunk_is_cut_like_a_sentence() -> None:
    text = "short: row\n   \n" + "cell of many words | " * 1000 + "\n \t\nlast: row"
    nodes = split(text, [Section(0, len(text), rows=True)])
    assert max(len(tokenize(node.text)) for node in nodes) <= 1000 + LEEWAY
    assert visible("".join(node.text for node in nodes)) == visible(text)
    firsts = {node.text.split()[0] for node in nodes}
    assert firsts <= {"short:", "cell", "of", "many", "words", "|"}, "cut between words"


def test_white_lines_between_rows_are_no_part_of_a_chunk() -> None:
    row = "cell of many words | " * 120 + "|"
    text = "\n \t\n".join([row] * 4)
    nodes = split(text, [Section(0, len(text), rows=True)])
    assert [node.text for node in nodes] == [row] * 4


def test_no_overlap_reaches_over_a_section() -> None:
    pages = [" ".join(paragraphs(8, seed)) for seed in (1, 2)]
    text = "\n\n".join(pages)
    cut = len(pages[0])
    sections = [Section(0, cut, page=1), Section(cut + 2, len(text), page=2)]
    nodes = split(text, sections)
    assert {node.metadata["page"] for node in nodes} == {1, 2}
    for node, (start, end) in zip(nodes, spans_of(nodes), strict=True):
        assert (node.metadata["page"] == 1) == (end <= cut) == (start < cut)
    overlapping = [a for (_, a), (b, _) in pairwise(spans_of(nodes)) if b < a]
    assert len(overlapping) == len(nodes) - 2, "all but the first of each page repeat something"


def test_what_no_section_holds_is_not_lost_and_overlapping_sections_are_refused() -> None:
    text = "Before. Inside. After."
    nodes = split(text, [Section(8, 15, heading_path=("H",))])
    assert [(n.text, n.metadata["heading_path"]) for n in nodes] == [
        ("Before.", []),
        ("Inside.", ["H"]),
        ("After.", []),
    ]
    for wrong in ([(0, 9), (8, 15)], [(8, 15), (0, 7)], [(0, 99)], [(5, 2)]):
        with pytest.raises(ValueError, match="overlaps"):
            split(text, [Section(start, end) for start, end in wrong])


def test_title_headings_and_context_are_embedded_and_only_the_content_is_shown() -> None:
    text = "Shipping takes 5 days. {braces}"
    section = Section(
        0, len(text), heading_path=("T", "Shipping", "EU"), page=3, label="page 3", context="A | B"
    )
    [node] = split(text, [section], owner="somebody")
    assert node.get_content(MetadataMode.EMBED) == f"T\nShipping > EU\nA | B\n\n{text}"
    assert node.get_content(MetadataMode.LLM) == text
    assert node.get_content(MetadataMode.NONE) == text
    assert node.metadata == {
        "title": "T",
        "source_uri": "a.txt",
        "owner": "somebody",
        "heading_path": ["T", "Shipping", "EU"],
        "label": "page 3",
        "page": 3,
        "context": "Shipping > EU\nA | B",
        "ordinal": 0,
        "start_char": 0,
        "end_char": len(text),
    }
    back = metadata_dict_to_node(node_to_metadata_dict(node, remove_text=True), text)
    assert back.get_content(MetadataMode.EMBED) == node.get_content(MetadataMode.EMBED)


def test_without_sections_title_and_content_are_embedded_and_nothing_more_is_stored() -> None:
    [node] = split("Refunds take 5 days.")
    assert node.get_content(MetadataMode.EMBED) == "T\n\nRefunds take 5 days."
    assert not {"context", "page", "sections"} & set(node.metadata)
    assert "sections" not in node.to_json()


def test_a_megabyte_of_heading_is_not_repeated_in_every_chunk() -> None:
    text = "A sentence of the section. " * 2000
    huge = "heading " * 2**17
    section = Section(0, len(text), heading_path=(huge,) * 50, label=huge, context=huge)
    nodes = split(text, [section], title=huge)
    assert len(nodes) > 20
    assert max(len(node.to_json()) for node in nodes) < 30_000
    assert max(len(tokenize(node.get_content(MetadataMode.EMBED))) for node in nodes) < 2000


def test_ids_depend_on_source_headings_content_and_occurrence() -> None:
    text = "Same.\nSame.\nSame."

    def ids(headings: tuple[str, ...], **metadata: Any) -> list[str]:
        sections = [Section(at, at + 5, heading_path=headings) for at in (0, 6, 12)]
        return [node.node_id for node in split(text, sections, **metadata)]

    base = ids(("H",))
    assert len(set(base)) == 3 and all(len(each) == 32 for each in base)
    assert ids(("H",), title="Another") == base
    assert not set(base) & set(ids(("H",), source_uri="b.txt"))
    assert not set(base) & set(ids(("G",)))
    assert not set(ids(("A", "B"))) & set(ids(("AB",)))


def test_a_changed_section_changes_no_other_whatever_its_page() -> None:
    parts = [f"Section {n} says something of its own." for n in range(9)]

    def nodes_of(parts: Sequence[str]) -> list[TextNode]:
        text, sections = "", []
        for number, part in enumerate(parts):
            start = len(text)
            text += f"{part}\n\n"
            sections.append(Section(start, len(text), ("H",), page=number + 1))
        return split(text, sections)

    before = nodes_of(parts)
    after = nodes_of(["A new first page.", *parts])
    assert [n.node_id for n in after[1:]] == [n.node_id for n in before]
    assert [n.metadata["page"] for n in after] == list(range(1, 11))


async def test_the_async_way_gives_the_same() -> None:
    document = Document(text="One. Two. Three.", metadata={"source_uri": "a.txt"})
    chunker = SectionSplitter()
    assert [n.node_id for n in await chunker.acall([document])] == [
        n.node_id for n in chunker([document])
    ]


def test_a_chunk_is_the_child_of_its_document() -> None:
    document = Document(id_="42", text="One.", metadata={"source_uri": "a.txt"})
    [node] = SectionSplitter()([document])
    assert isinstance(node, TextNode) and node.ref_doc_id == "42"
