"""outline: the headings of a document, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import Row, find_document

_MOST = 200


class OutlineArguments(Arguments):
    """The document to outline."""

    document_id: int


async def outline(arguments: OutlineArguments, context: ToolContext) -> ToolOutput:
    """A line a heading, indented by its level, with its page or its characters."""
    row = await find_document(context, arguments.document_id)
    lines = list(_lines(row["outline"]))
    if not lines:
        return ToolOutput((f"{row['title']} has no headings; it is read by page or range.",))
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return ToolOutput(("\n".join([f"{row['title']}:", *lines[:_MOST], *more]),))


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
