"""Answers of real runs, kept line by line, so that a run which was broken off goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Key(NamedTuple):
    """One answer of one answerer.

    ``answerer``: a model's name among evals.real.models.MODELS, or ``offline``. ``form``: as
    HELIX_ANSWER_FORM has it. ``fingerprint``: of all that decides the prompt, and so the answer.
    """

    answerer: str
    form: str
    suite: str
    question: str
    fingerprint: str


@dataclass(frozen=True)
class KeptAnswer:
    """The text of an answer, or why there is none: the failure's ``error``.

    ``first`` and ``whole`` are seconds from the question to the first delta and to the end;
    ``beside``: the other form was asked right before or after. ``model`` and ``tokens`` are what
    the model's server tells; None where no model was asked.
    """

    key: Key
    text: str
    error: str | None
    first: float
    whole: float
    beside: bool
    model: str | None
    tokens: dict[str, int | None] | None


class Answers:
    """The answers in the file ``path``; the last one of a key counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = {answer.key: answer for answer in _read(path)}

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[KeptAnswer]:
        return iter(self._kept.values())

    def get(self, key: Key) -> KeptAnswer | None:
        """The answer of ``key``; None where it was not asked."""
        return self._kept.get(key)

    def keep(self, answer: KeptAnswer) -> None:
        """Add ``answer``; it is in the file when this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")
        self._kept[answer.key] = answer


def _read(path: Path) -> Iterator[KeptAnswer]:
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            values: dict[str, Any] = json.loads(line)
        except ValueError:  # the line that a kill cut off
            continue
        yield KeptAnswer(**values | {"key": Key(*values["key"])})
