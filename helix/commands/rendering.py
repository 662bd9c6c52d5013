"""An answer on a terminal: Markdown drawn as it streams, citations with their quotes, places."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import typer

from helix.commands.console import one_line, printable
from helix.commands.service.answers import AnswerService, Query
from helix.domain.citations import place_of
from helix.domain.contract import REFUSAL
from helix.library.access import Row

_FENCES = ("```", "~~~")


def draws_markdown() -> bool:
    """True if standard output is a terminal that shows styles, and nobody asked for plain text."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


class AnswerPrinter:
    """Prints the pieces of an answer as they come.

    As Markdown a block is printed once it is whole, for a list or a table cannot be drawn by half.
    What may still turn out to be the refusal is held back: whether that is an answer or a mistake
    in the question is known at the end.
    """

    def __init__(self, *, markdown: bool) -> None:
        self._markdown = markdown
        self._text = ""
        self._printed = 0

    def feed(self, piece: str) -> None:
        """Print what of the answer is certain now."""
        self._text += printable(piece)
        if REFUSAL.startswith(self._text):
            return
        self._print(_whole_blocks(self._text, self._printed) if self._markdown else len(self._text))

    def end(self) -> None:
        """Print the rest, and end the line."""
        self._print(len(self._text))
        if not self._markdown:
            typer.echo()

    def _print(self, end: int) -> None:
        text, self._printed = self._text[self._printed : end], end
        if self._markdown and text.strip():
            _print_markdown(text)
        elif not self._markdown:
            typer.echo(text, nl=False)


async def print_pieces(answers: AnswerService, query: Query, printer: AnswerPrinter) -> Row | None:
    """Feed the pieces of an answer to ``printer``; the answer's JSON, None where it was stopped."""
    answer: Row | None = None
    async with aclosing(answers.stream(query)) as pieces:
        async for piece in pieces:
            if isinstance(piece, str):
                printer.feed(piece)
            else:
                answer = piece
    return answer


def _whole_blocks(text: str, start: int) -> int:
    """The end of the last whole block: it is at a blank line outside of fenced code."""
    end, position, fenced = start, start, False
    for line in text[start:].splitlines(keepends=True):
        position += len(line)
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
        elif not line.strip() and line.endswith("\n") and not fenced:
            end = position
    return end


def _print_markdown(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    # an address is shown: a link could name one place and lead to another
    Console(highlight=False).print(Markdown(text, hyperlinks=False))


def citation_lines(answer: Mapping[str, Any], *, verbose: bool) -> list[str]:
    """Each source that an answer cites: its place, and every quote that a statement rests on."""
    lines: list[str] = []
    for citation in answer["citations"]:
        where = place_of(citation["title"], citation["heading_path"], citation["label"])
        number = f" (chunk {citation['chunk_id']})" if verbose else ""
        lines += ["", f"[{citation['n']}] {one_line(where)}{number}"]
        if citation.get("source_url"):
            lines.append(f"    {one_line(citation['source_url'])}")
        lines += [f"    {one_line(quote)}" for quote in _quotes(answer, citation)]
    return lines


def _quotes(answer: Mapping[str, Any], citation: Mapping[str, Any]) -> list[str]:
    quotes = [
        str(span["quote"])
        for statement in answer["support"]["statements"]
        for span in statement["spans"]
        if span["n"] == citation["n"] and span["quote"]
    ]
    return list(dict.fromkeys(quotes)) or [str(citation["snippet"])]


def doubt_lines(answer: Mapping[str, Any]) -> list[str]:
    """The statements that their sources do not bear out, and what a judge says of the whole."""
    lines: list[str] = []
    unsupported = [each for each in answer["support"]["statements"] if each["problem"]]
    if unsupported:
        lines += ["", "Not borne out by what it cites:"]
        lines += [f"    {one_line(answer['answer'][s['start'] : s['end']])}" for s in unsupported]
    if verdict := answer.get("verdict"):
        lines += ["", f"The judge finds it {'' if verdict['grounded'] else 'not '}grounded."]
    return lines


def call_lines(answer: Mapping[str, Any]) -> list[str]:
    """The calls of an agent for an answer, a line each; empty where one search was made."""
    calls = (answer.get("agent") or {}).get("calls") or []
    lines = [""] if calls else []
    for call in calls:
        arguments = ", ".join(
            f"{name}={value}" for name, value in (call["arguments"] or {}).items()
        )
        outcome = call["failure"] or f"{len(call['sources'])} passages"
        seconds = f"{call['seconds'] * 1000:.0f} ms"
        lines.append(one_line(f"{call['call']}. {call['name']}({arguments}): {outcome}, {seconds}"))
    return lines
