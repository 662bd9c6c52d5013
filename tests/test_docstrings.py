"""Summary lines of docstrings: they open with a noun phrase or a verb."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.repository import ROOT

PACKAGES = ("helix", "pipelines", "db", "evals", "benchmarks", "scripts", "tests")
QUESTION_WORDS = frozenset("as how those what when where whether which who whom whose why".split())
"""A summary that opens with one names its subject at its end, so it has to be read twice."""


def docstrings(file: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring, those below attributes and constants too."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text


def opens_with_question_word(summary: str) -> bool:
    """True if the first word is one of QUESTION_WORDS, whatever marks it has."""
    word = re.search(r"\w+", summary)
    return word is not None and word[0].casefold() in QUESTION_WORDS


def test_summaries_open_with_a_noun_phrase_or_a_verb() -> None:
    bad = [
        f"{file.relative_to(ROOT)}:{line}: {text.strip().splitlines()[0]}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, text in docstrings(file)
        if opens_with_question_word(text)
    ]
    assert not bad, "name the subject first:\n" + "\n".join(bad)


def test_a_question_word_is_seen_behind_marks_but_not_within_a_summary() -> None:
    assert opens_with_question_word("``What`` is kept.")
    assert opens_with_question_word("whether it holds")
    assert not opens_with_question_word("True if what is asked holds.")
    assert not opens_with_question_word("Whatever is kept.")
