"""The questions of the suite; answers are judged by words that were marked before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.metrics.wording import plain
from evals.natural.documents import Half, documents

LISTED = Path(__file__).with_name("questions.json")


@dataclass(frozen=True)
class NaturalQuestion:
    """A question about one document.

    ``wanted`` are the words that a right answer has: one alternative of each group, as the document
    has them; none where the document does not answer it.
    """

    document: str
    question: str
    wanted: Sequence[Sequence[str]]

    @property
    def answerable(self) -> bool:
        """True where the document answers it."""
        return bool(self.wanted)

    def is_right(self, answer: str) -> bool:
        """True where an answer to an answerable one has all wanted words."""
        said = _bare(answer)
        has_all = all(any(_bare(word) in said for word in group) for group in self.wanted)
        return self.answerable and has_all


def _bare(text: str) -> str:
    """``text`` as ``plain`` has it, without the marks of Markdown and reStructuredText."""
    return " ".join("".join(c for c in plain(text) if c not in "`*\\").split())


def questions(half: Half | None = None) -> list[NaturalQuestion]:
    """The questions about documents of ``half``; all where None."""
    names = {document.name for document in documents(half)}
    listed = [NaturalQuestion(**entry) for entry in json.loads(LISTED.read_text())]
    return [one for one in listed if one.document in names]


def is_green(response: Mapping[str, Any]) -> bool:
    """True where every statement of a response of POST /v1/query is supported and relevant."""
    statements = (response.get("support") or {}).get("statements") or []
    return bool(statements) and all(one["supported"] and one["relevant"] for one in statements)
