"""A name in an answer's code, and where the documents have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["documented", "undocumented", "local"]


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name at ``answer[start:end]``, and where a source has it.

    ``local``: the answer's own code defines it. ``documented``: source ``n``, from 1, has it within
    the chunk ``chunk_id``, at ``documents.text[source_start:source_end]``. ``undocumented``: no
    source has it.
    """

    name: str
    start: int
    end: int
    status: Status
    n: int | None = None
    chunk_id: int | None = None
    document_id: int | None = None
    source_start: int | None = None
    source_end: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The name in an answer's JSON."""
        return {name: getattr(self, name) for name in self.__slots__}
