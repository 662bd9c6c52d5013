"""Splitters: a document's text to chunks, each an exact slice of it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

from helix.domain.records import (
    END_CHAR,
    HEADING_PATH,
    LABEL,
    ORDINAL,
    PAGE,
    START_CHAR,
    Section,
)
from helix.language.sentences import Span
from pipelines.splitters.pieces import chunks_of, pieces_of

TITLE = "title"
SOURCE_URI = "source_uri"
SECTIONS = "sections"
FACTS_LINE = "facts_line"
SEED = "seed"
"""Metadata keys of a document to split; ``sections`` is a tuple of Section, ``facts_line`` stands
above the headings in each context, ``seed`` is what node ids are made from in place of source_uri;
none of the three is handed on."""

CONTEXT = "context"
"""Metadata key of a node: what is embedded between title and content, absent when empty."""

# Each chunk repeats these, and a file may have a heading of a megabyte: characters, at most.
_LONGEST_TITLE = 300
_LONGEST_CONTEXT = 1200
_DEEPEST_PATH = 12

_VISIBLE = re.compile(r"\S")


class SectionSplitter(NodeParser):
    """Documents to TextNodes, each an exact slice of its document's text within one section.

    Prose is cut between sentences into chunks of ``chunk_tokens`` at most, overlaps of
    ``overlap_tokens`` at most included (exact to a token or two); a longer sentence is cut between
    words. A block (fenced code) is never cut, even when longer, up to 8,000 tokens: beyond, it is
    cut at line ends. A section of rows is one chunk up to twice ``chunk_tokens``, else cut at line
    ends, without overlap. An edit changes the chunks near it and no others.

    A document's metadata may have source_uri (its id if it has none), title, facts_line and
    sections (the text is one section if it has none). A node's metadata has title, source_uri,
    ordinal, start_char, end_char, heading_path, label, page where there is one, and context. Title
    and context go in front of what is embedded; a model is shown the content only.

    Node ids are a hash of source, headings, content and occurrence: what did not change keeps its
    id, though its place, page, title and context may be others.

    Raises:
        ValueError: sections overlap, are out of order or reach out of the text.
    """

    chunk_tokens: int = Field(default=500, ge=16)
    overlap_tokens: int = Field(default=50, ge=0)

    @classmethod
    def class_name(cls) -> str:
        return "SectionSplitter"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any
    ) -> list[BaseNode]:
        return [chunk for document in nodes for chunk in self._chunks(document)]

    async def _aparse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        return await asyncio.to_thread(self._parse_nodes, nodes, show_progress, **kwargs)

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        """The nodes as they are: LlamaIndex would look their offsets up again by their text."""
        return nodes

    def _chunks(self, document: BaseNode) -> Iterator[BaseNode]:
        text = document.get_content(MetadataMode.NONE)
        shared = {
            key: value
            for key, value in document.metadata.items()
            if key not in (SECTIONS, FACTS_LINE, SEED)
        }
        if TITLE in shared:
            shared[TITLE] = _short(str(shared[TITLE]), _LONGEST_TITLE)
        # By its id alone: its hash and metadata would be stored with each chunk, sections included.
        source = RelatedNodeInfo(node_id=document.node_id, node_type=ObjectType.DOCUMENT)
        seed = document.metadata.get(SEED) or shared.get(SOURCE_URI) or document.node_id
        ids = _Ids(str(seed))
        facts = _short(str(document.metadata.get(FACTS_LINE) or ""), _LONGEST_TITLE)
        ordinal = 0
        for section in _gapless(text, document.metadata.get(SECTIONS) or ()):
            headings = _headings(section)
            title = str(shared.get(TITLE, ""))
            marks = {**shared, **_section_marks(section, headings, title, facts)}
            for start, end in _spans(text, section, self.chunk_tokens, self.overlap_tokens):
                content = text[start:end]
                places = {ORDINAL: ordinal, START_CHAR: start, END_CHAR: end}
                yield _node(ids.of(headings, content), content, {**marks, **places}, source)
                ordinal += 1


def chunk_spans(text: str, chunk_tokens: int, overlap_tokens: int) -> Iterator[Span]:
    """Half-open character spans of the chunks of a ``text`` without sections, in order."""
    return _spans(text, Section(0, len(text)), chunk_tokens, overlap_tokens)


def _gapless(text: str, sections: Iterable[Section]) -> Iterator[Section]:
    """``sections``, and what is visible between them as sections without a heading.

    Short ones stay by themselves: joined, a citation would name the wrong heading.

    Raises:
        ValueError: sections overlap, are out of order or reach out of the text.
    """
    covered = 0
    for section in sections:
        if not covered <= section.start <= section.end <= len(text):
            raise ValueError(f"the section at {section.start} overlaps another or leaves the text")
        if _VISIBLE.search(text, covered, section.start):
            yield Section(covered, section.start)
        yield section
        covered = section.end
    if _VISIBLE.search(text, covered):
        yield Section(covered, len(text))


def _spans(text: str, section: Section, chunk_tokens: int, overlap_tokens: int) -> Iterator[Span]:
    most, overlap = (2 * chunk_tokens, 0) if section.rows else (chunk_tokens, overlap_tokens)
    return chunks_of(text, pieces_of(text, section, most), most, overlap)


def _node(
    node_id: str, content: str, metadata: dict[str, Any], source: RelatedNodeInfo
) -> TextNode:
    return TextNode(
        id_=node_id,
        text=content,
        start_char_idx=metadata[START_CHAR],
        end_char_idx=metadata[END_CHAR],
        metadata=metadata,
        excluded_embed_metadata_keys=[key for key in metadata if key not in (TITLE, CONTEXT)],
        excluded_llm_metadata_keys=list(metadata),
        metadata_template="{value}",
        relationships={NodeRelationship.SOURCE: source},
    )


def _headings(section: Section) -> tuple[str, ...]:
    path = section.heading_path[-_DEEPEST_PATH:]
    return tuple(_short(heading, _LONGEST_TITLE) for heading in path)


def _section_marks(
    section: Section, headings: Sequence[str], title: str, facts: str
) -> dict[str, Any]:
    """The metadata that nodes of a section share: their place, and the text embedded with them.

    The facts and the headings stand in front of what is embedded, these without one that only
    repeats the title.
    """
    marks: dict[str, Any] = {
        HEADING_PATH: list(headings),
        LABEL: _short(section.label, _LONGEST_TITLE),
    }
    if section.page is not None:
        marks[PAGE] = section.page
    below = headings[1:] if headings[:1] == (title,) else headings
    lines = (facts, " > ".join(below), section.context.strip())
    if context := "\n".join(line for line in lines if line):
        marks[CONTEXT] = _short(context, _LONGEST_CONTEXT)
    return marks


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


class _Ids:
    """Ids of the nodes of one source: the same headings and content get 0, 1, 2 … in turn."""

    def __init__(self, source_uri: str) -> None:
        self._source_uri = source_uri
        self._seen: dict[bytes, int] = {}

    def of(self, headings: Sequence[str], content: str) -> str:
        # Its length first: no separator could be told from one within.
        parts = (self._source_uri, *headings, content)
        key = hashlib.sha256()
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            key.update(b"%d:" % len(data))
            key.update(data)
        occurrence = self._seen[key.digest()] = self._seen.get(key.digest(), -1) + 1
        key.update(b"%d" % occurrence)
        return key.hexdigest()[:32]


__all__ = [
    "CONTEXT",
    "FACTS_LINE",
    "SECTIONS",
    "SEED",
    "SOURCE_URI",
    "TITLE",
    "SectionSplitter",
    "chunk_spans",
]
