"""An answer on a terminal: whole blocks of Markdown, nothing that steers, the refusal held back."""

from __future__ import annotations

import sys

import pytest

from helix.commands.rendering import AnswerPrinter, draws_markdown
from helix.domain.contract import REFUSAL

_ANSWER = """\
The limits are these [1]:

- **Hotels** cost 140 euros
- [a form](https://example.com/steal) is filled in

```
code

more code
```
It ends here. [2]"""


def _printed(capsys: pytest.CaptureFixture[str], *, markdown: bool, size: int) -> str:
    printer = AnswerPrinter(markdown=markdown)
    for start in range(0, len(_ANSWER), size):
        printer.feed(_ANSWER[start : start + size])
    printer.end()
    return capsys.readouterr().out


def test_plain_text_is_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    for size in (1, 7, 1000):
        assert _printed(capsys, markdown=False, size=size) == f"{_ANSWER}\n"


def test_markdown_is_drawn_alike_however_it_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    by_pieces = [_printed(capsys, markdown=True, size=size) for size in (1, 7, 30)]
    assert by_pieces[0] == by_pieces[1] == by_pieces[2]
    drawn = by_pieces[0]
    assert " • Hotels cost 140 euros" in drawn and "**" not in drawn and "```" not in drawn
    assert "The limits are these [1]:" in drawn and "It ends here. [2]" in drawn
    # where a link leads is read, not hidden behind its words
    assert "https://example.com/steal" in drawn and "\x1b]8;" not in drawn


def test_nothing_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    printer = AnswerPrinter(markdown=True)
    printer.feed("Red\x1b[31m alert\x07 [1]")
    printer.end()
    assert "\x1b[31m" not in (told := capsys.readouterr().out) and "\x07" not in told


def test_what_may_be_the_refusal_is_held_back(capsys: pytest.CaptureFixture[str]) -> None:
    printer = AnswerPrinter(markdown=False)
    for piece in (REFUSAL[:10], REFUSAL[10:]):
        printer.feed(piece)
        assert capsys.readouterr().out == ""
    printer.end()
    assert capsys.readouterr().out == f"{REFUSAL}\n"


def test_colour_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert not draws_markdown()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert draws_markdown()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            assert not draws_markdown()
