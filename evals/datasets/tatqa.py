"""TAT-QA: tables of financial reports as raw matrices, with paragraphs and questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TableQuestion:
    """A question that a span of the document answers.

    ``answer`` is the span, ``scale`` that of its number ("million", "percent", ''); ``source`` is
    ``text``, ``table`` or ``table-text``.
    """

    id: str
    text: str
    answer: str
    scale: str
    source: str


@dataclass(frozen=True)
class TableContext:
    """A table, the paragraphs around it in their order, and the questions about both."""

    id: str
    matrix: tuple[tuple[str, ...], ...]
    paragraphs: tuple[str, ...]
    questions: tuple[TableQuestion, ...]


_LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl"})


def _plain(text: str) -> str:
    """``text`` without the ligatures that the set copied from its reports' fonts."""
    return text.translate(_LIGATURES)


def load_tatqa(data: Path) -> list[TableContext]:
    """The dev set below the folder ``data``, with the questions that one span answers."""
    contexts = json.loads((data / "tatqa/dev.json").read_text("utf-8"))
    return [
        TableContext(
            one["table"]["uid"],
            tuple(tuple(map(_plain, row)) for row in one["table"]["table"]),
            tuple(
                _plain(p["text"]) for p in sorted(one["paragraphs"], key=lambda p: int(p["order"]))
            ),
            tuple(
                TableQuestion(
                    q["uid"],
                    _plain(q["question"]),
                    _plain(q["answer"][0]),
                    q["scale"],
                    q["answer_from"],
                )
                for q in one["questions"]
                if q["answer_type"] == "span"
            ),
        )
        for one in contexts
    ]
