"""Terms on lines of their own, with what defines them set in under them."""

from __future__ import annotations

import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.domain.pages import unpack_words
from pipelines.readers import read
from tests.support.printed_pages import HEIGHT, Drawing, drawn, put

WRAPPED = (
    "The time in milliseconds after which a folder opens when something is held above",
    "it. The default is 500.",
)


def glossary(canvas: Canvas) -> None:
    put(canvas, 60, 60, "The options have these names in the file, which is read at the start:")
    put(canvas, 60, 90, "hover_timeout")
    put(canvas, 80, 104, *WRAPPED)
    put(canvas, 60, 140, "skip_check")
    put(canvas, 60, 152, "skip_all_checks")
    put(canvas, 80, 166, "Nothing is checked.")
    put(canvas, 80, 190, "Use it with care.")
    put(canvas, 60, 220, "All of them may be given on the command line, too, as --name=value is.")


def test_a_term_is_the_beginning_of_a_list_s_item_and_each_word_has_its_box() -> None:
    found = read("pdf", drawn(glossary))
    assert found.text.split("\n\n")[1:] == [
        f"- hover_timeout: {' '.join(WRAPPED)}",
        "- skip_check, skip_all_checks: Nothing is checked.",
        "  Use it with care.",
        "All of them may be given on the command line, too, as --name=value is.",
    ]
    boxed = [found.text[word.start : word.end] for word in unpack_words(found.pages[0].words)]
    printed = found.text.translate(str.maketrans("", "", ":,")).split()
    assert [word.strip(":,") for word in boxed] == [word for word in printed if word != "-"]


def at_top(canvas: Canvas) -> None:
    put(canvas, 60, 60, "Accrual")
    put(canvas, 80, 74, "A cost that is booked before it is paid.")
    put(canvas, 60, 100, "Cash")
    put(canvas, 80, 114, "It lies in the till.")


def test_a_page_may_begin_with_a_term() -> None:
    assert read("pdf", drawn(at_top)).text.split("\n\n") == [
        "- Accrual: A cost that is booked before it is paid.",
        "- Cash: It lies in the till.",
    ]


def prompts(canvas: Canvas) -> None:
    for number in range(2):
        put(canvas, 60, 60 + 60 * number, "$ make all of it")
        put(canvas, 80, 74 + 60 * number, *WRAPPED)


def once(canvas: Canvas) -> None:
    put(canvas, 60, 60, "hover_timeout")
    put(canvas, 80, 74, *WRAPPED)


def stops(canvas: Canvas) -> None:
    for number in range(3):
        put(canvas, 60, 60 + 60 * number, f"Note {number} is this.")
        put(canvas, 80, 74 + 60 * number, *WRAPPED)


def code(canvas: Canvas) -> None:
    canvas.setFont("Courier", 10)
    for number in range(6):
        canvas.drawString(60 + 20 * (number % 2), HEIGHT - 60 - 12 * number, f"line {number} ends.")


@pytest.mark.parametrize("draw", [once, stops, prompts, code])
def test_others_are_none(draw: Drawing) -> None:
    assert "- " not in read("pdf", drawn(draw)).text
