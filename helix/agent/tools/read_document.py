"""read_document: a part of a document, by page, heading or characters."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import find_document, narrowed, passages
from helix.storage.document_parts import passages_of

_MOST = 12


class ReadArguments(Arguments):
    """The document to read, and the part of it; without a part its beginning."""

    document_id: int
    page: int | None = Field(None, ge=1, description="A page, from 1.")
    heading: str | None = Field(None, min_length=1, max_length=200, description="Words of it.")
    start: int | None = Field(None, ge=0, description="The first character of a range.")
    end: int | None = Field(None, ge=1, description="The character behind the range.")

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError("start must be less than end")
        return self


async def read(arguments: ReadArguments, context: ToolContext) -> ToolOutput:
    """The passages of the part, in the order of the document, twelve at most."""
    row = await find_document(context, arguments.document_id)
    part = arguments.model_dump(include={"page", "heading", "start", "end"})
    scope = narrowed(context, arguments.document_id)
    passages_found = await passages(
        context, passages_of(scope, arguments.document_id, _MOST + 1, **part)
    )
    if not passages_found:
        return ToolOutput((f"{row['title']} has no such part: outline lists what it has.",))
    more = passages_found[_MOST:]
    rest = f"There is more, from character {more[0].start_char} on." if more else ""
    return ToolOutput(tuple(filter(None, (f"From {row['title']}:", *passages_found[:_MOST], rest))))


READ_DOCUMENT = Tool("read_document", ReadArguments, read)
