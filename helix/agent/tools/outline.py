"""list_documents: those of the asker's scope; outline: the headings of one, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import Row, fetch, find_document
from helix.domain.metadata import metadata_line
from helix.domain.names import facts_line
from helix.storage.document_parts import documents_of

_MOST = 50
_MOST_METADATA = 200
"""Characters of a document's metadata in its line."""


class ListArguments(Arguments):
    """Words of the documents' titles, facts or metadata, which narrow the list."""

    having: str = Field("", max_length=200, description="Words of the title, company or period.")


async def list_documents(arguments: ListArguments, context: ToolContext) -> ToolOutput:
    """A line a document: id, title, its facts, its metadata and its number of pages."""
    rows = await fetch(context, documents_of(context.scope, arguments.having, _MOST))
    if not rows:
        return ToolOutput(("There are no such documents.",))
    total = rows[0]["total"]
    head = f"{total} documents" if total > 1 else "1 document"
    more = [f"and {total - len(rows)} more"] if total > len(rows) else []
    return ToolOutput(("\n".join([f"{head}:", *map(_line, rows), *more]),))


def _line(row: Row) -> str:
    pages = f"{row['pages']} pages" if row["pages"] else ""
    metadata = metadata_line(row["metadata"], row["metadata"])[:_MOST_METADATA]
    details = ", ".join(filter(None, (facts_line(row["title"], row["facts"]), metadata, pages)))
    return f"- document {row['id']}: {row['title']}" + (f" ({details})" if details else "")


LIST_DOCUMENTS = Tool("list_documents", ListArguments, list_documents)


_MOST_HEADINGS = 200


class OutlineArguments(Arguments):
    """The document to outline."""

    document_id: int


async def outline(arguments: OutlineArguments, context: ToolContext) -> ToolOutput:
    """A line a heading, indented by its level, with its page or its characters."""
    row = await find_document(context, arguments.document_id)
    lines = list(_lines(row["outline"]))
    if not lines:
        return ToolOutput((f"{row['title']} has no headings; it is read by page or range.",))
    more = [f"and {len(lines) - _MOST_HEADINGS} more"] if len(lines) > _MOST_HEADINGS else []
    return ToolOutput(("\n".join([f"{row['title']}:", *lines[:_MOST_HEADINGS], *more]),))


def _lines(sections: list[Row]) -> Iterator[str]:
    before: tuple[str, ...] = ()
    for section in sections:
        path = tuple(section.get("heading_path") or ())
        if path == before or not path:
            continue
        same = sum(1 for one, other in zip(path, before, strict=False) if one == other)
        page = section.get("page")
        at = f"page {page}" if page else f"characters {section['start']} to {section['end']}"
        for level in range(min(same, len(path) - 1), len(path)):
            yield f"{'  ' * level}- {path[level]} ({at})"
        before = path


OUTLINE = Tool("outline", OutlineArguments, outline)
