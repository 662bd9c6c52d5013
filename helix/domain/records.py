"""Records between the database and the rest of Helix: a document to write, a chunk found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from helix.domain.gate import LexicalMatch
from helix.domain.pages import PrintedPage
from helix.domain.tables import Table
from helix.domain.tool_results import SourceKind, ToolResult
from helix.language.sentences import Span

ORDINAL = "ordinal"
START_CHAR = "start_char"
END_CHAR = "end_char"
"""Metadata keys of a node that its chunk's generated columns are read from."""

PAGE = "page"
HEADING_PATH = "heading_path"
LABEL = "label"
"""Metadata keys of a node that say where in its document it lies, as ``Section`` has them."""

EMBEDDING_KEY = "embedding_key"
"""Metadata key of a node: the key its vector has in the embedding cache."""

KNOWN: list[float] = []
"""The embedding of a node whose vector is stored already, under its embedding key.

Not None: an IngestionPipeline hands its vector store only nodes whose embedding is not None."""

Place = tuple[str, int | None, int | None, int | None, tuple[str, ...], str]
"""Title, start, end, page, heading path and label of a chunk."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text that chunks stay within: a page, a slide, what is under a heading.

    Sections are in the order of the text and do not overlap; what lies between two is white space.
    ``page`` counts from 1 (PDF pages, slides); ``heading_path`` goes from the outermost heading
    inwards (a sheet's name is one); ``label`` is for people: "page 47", "slide 3", "sheet Budget,
    rows 2-21". ``context`` (a table's header row) is put in front of what is embedded. ``blocks``
    are spans within the section that are not cut, such as fenced code. The chunks of ``rows``
    end where lines end.
    """

    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    label: str = ""
    context: str = ""
    blocks: tuple[Span, ...] = ()
    rows: bool = False

    def outline(self) -> dict[str, Any]:
        """The section as ``documents.outline`` keeps it."""
        return {
            "start": self.start,
            "end": self.end,
            "page": self.page,
            "heading_path": list(self.heading_path),
            "label": self.label,
        }


@dataclass(frozen=True)
class DocumentRecord:
    """A document as it is written: one row, replaced with its chunks in one transaction.

    ``content_hash`` is the SHA-256 of the source's bytes in hex; ``recipe`` names the versions of
    reader and splitter. A source is unchanged when hash, recipe and title are. ``media`` is a name
    of helix.domain.file_kinds, ``size`` is in bytes; ``file_hash`` is set where the source's bytes
    are kept.
    """

    source_uri: str
    title: str
    content_hash: str
    recipe: str
    text: str
    media: str = ""
    size: int = 0
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)
    file_hash: str | None = None
    tags: tuple[str, ...] | None = None
    """None: those that a stored version has stay."""
    spaces: tuple[int, ...] | None = None
    """Ids of those that it stands in; None: those of a stored version, or the library."""
    tables: tuple[Table, ...] = ()
    pages: tuple[PrintedPage, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts that the document states on its first pages: company, period, kind and the like."""
    file_name: str = ""
    """Of the source, without its folders; one that people have given stays."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of one's own, as the document has it in front of its text (helix/domain/metadata.py)."""
    given: Mapping[str, Any] | None = None
    """Metadata that came beside the document: above its own, below what people changed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by a search. ``distance`` is the cosine distance, 0 to 2, smaller nearer.

    ``content`` is ``documents.text[start_char:end_char]``; both are None for chunks written by
    other LlamaIndex code that did not mark them. ``page``, ``heading_path`` and ``label`` say where
    in the document it lies, as ``Section`` does. ``facts`` are the document's: texts by name, such
    as company, period, kind, author and date. ``attached``: of a document that is put to one
    conversation, not of the library. ``tool``: the result of a tool, which no document has; its
    ids are not those of anything stored, and its distance is not known. ``version_id`` is the
    SHA-256 of the document's source, in hex; None where it was not read.
    """

    chunk_id: int
    document_id: int
    title: str
    source_uri: str
    ordinal: int
    content: str
    start_char: int | None
    end_char: int | None
    node_id: str
    distance: float
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    label: str = ""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    attached: bool = False
    tool: ToolResult | None = None
    version_id: str | None = None

    @property
    def kind(self) -> SourceKind:
        """The hit's kind: a passage of a document, or a tool's result."""
        return self.tool.kind if self.tool else "passage"

    @property
    def source_url(self) -> str | None:
        """The address on the web that its document came from; None of another's."""
        return self.source_uri if self.source_uri.startswith(("http://", "https://")) else None

    @property
    def stored_ids(self) -> tuple[int, int] | tuple[None, None]:
        """Its chunk's and its document's id; None and None of a tool's result."""
        return (None, None) if self.tool else (self.chunk_id, self.document_id)

    @property
    def place(self) -> Place:
        """A citation's fields besides its text, which a chunk of one id never changes."""
        return (
            self.title, self.start_char, self.end_char, self.page, self.heading_path, self.label
        )  # fmt: skip


def tool_hit(result: ToolResult, number: int) -> Hit:
    """A tool's result as a hit; ``number`` from 1 tells those of one answer apart."""
    return Hit(
        -number, 0, result.title, "", 0, result.text, 0, len(result.text), "", float("nan"),
        tool=result,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit with what put it where it is.

    ``score`` is its BM25 score, 0 and more, ``fused`` what it was ordered by; its ranks by distance
    and by score count from 1 among all candidates. ``together`` is how many of the question's words
    it has. A search by distance alone has neither score nor rank by it, and counts no words.
    """

    hit: Hit
    fused: float
    near_rank: int
    score: float | None = None
    score_rank: int | None = None
    together: int = 0


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search, best first.

    ``nearest`` is the least distance of all candidates, whether or not it is among these; None
    where there are none, NaN where no distance is known. ``words`` and ``identifiers`` count the
    question's, as LexicalMatch does. ``searches`` is how many it was put together of.
    ``frequencies`` says for each word, in the order of ``question_words``, how many of the tenant's
    ``chunks`` have it, and ``best`` is the highest BM25 score of all candidates, whether or not it
    is among these; a search by distance alone says none of that. ``attached_alone``: these are of
    the documents of the question's conversation, which answer it, and nothing else was searched.
    """

    candidates: list[Candidate]
    nearest: float | None
    words: int = 0
    identifiers: int = 0
    searches: int = 1
    frequencies: tuple[int, ...] = ()
    chunks: int = 0
    best: float | None = None
    attached_alone: bool = False

    def first(self, count: int) -> SearchResult:
        """The same search, had it been asked for ``count`` candidates."""
        return replace(self, candidates=self.candidates[:count])

    def lexical(self, first: int) -> LexicalMatch:
        """The question's words against those of the ``first`` candidates."""
        together = max((one.together for one in self.candidates[:first]), default=0)
        return LexicalMatch(self.words, self.identifiers, together)

    @property
    def hits(self) -> list[Hit]:
        """The chunks found."""
        return [candidate.hit for candidate in self.candidates]

    @property
    def scores(self) -> list[float]:
        """Their BM25 scores; 0 where there is none."""
        return [candidate.score or 0.0 for candidate in self.candidates]
