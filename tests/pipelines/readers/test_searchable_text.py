"""Contents, indexes and running titles are in no section, in any format and language."""

from __future__ import annotations

import pytest

from pipelines.readers import ReadText, read
from tests.support.manuals import MANUALS, WAYS, Manual
from tests.support.sample_documents import Bullet, Heading, Table, docx


def searched(done: ReadText) -> list[str]:
    return [done.text[section.start : section.end] for section in done.sections]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("manual", MANUALS, ids=lambda manual: manual.contents)
def test_what_leads_to_text_is_left_out_and_the_text_is_not(manual: Manual, way: str) -> None:
    kind, made = WAYS[way]
    found = "\n".join(searched(read(kind, made(manual))))
    lines = found.splitlines()
    for said in manual.chapters.values():
        assert said in found
    for leading in manual.navigation:
        # an empty heading of a page stays above the next one, and is marked as a heading
        assert not [line for line in lines if line.lstrip("- ") == leading], found
    for title in manual.chapters:  # as a heading, once
        assert sum(title.casefold() in line.casefold() for line in lines) <= 1, found
    if way in ("text", "pdf"):
        assert manual.title not in found


def test_what_is_left_out_stays_in_the_text() -> None:
    kind, made = WAYS["led"]
    manual = MANUALS[0]
    text = made(manual).decode()
    assert read(kind, made(manual)).text == text


STEPS = """\
# Changing the wheel

The change has these steps in order:

1. Loosen the nuts
2. Lift the car
3. Take off the wheel

## Loosen the nuts

Turn each nut half a turn to the left with the wrench from the boot.

## Lift the car

Put the jack under the sill and turn it until the wheel is free of the ground.

## Take off the wheel

Pull the wheel towards you with both hands.
"""
COUNTIES = "Alabama, 67\nAlaska, 30\nArizona, 15\nArkansas, 75\nCalifornia, 58\nColorado, 64\n"
YEARS = "Founded in Kiel 1987\nMoved to Bonn 1990\nSold to Acme 1994\nSplit in two 2001\n"
PRICES = "Espresso ..... 2.50\nLatte ..... 3.20\nMocha ..... 3.90\nTea ..... 1.80\nWater ..... 1\n"
SHOPPING = "- butter\n- eggs\n- flour\n- milk\n- sugar\n"
CODE = "```\n- [a](#a)\n- [b](#b)\n- [c](#c)\n```\n"
LINKS = (
    "- [Kiel](https://kiel.example)\n- [Bonn](https://bonn.example)\n- [Ulm](https://ulm.example)\n"
)
TWICE = "Name\nDate\nPlace\n\nName\nDate\nPlace\n\nName\nDate\nPlace\n"


@pytest.mark.parametrize(
    "text", [STEPS, COUNTIES, YEARS, PRICES, SHOPPING, CODE, LINKS, TWICE], ids=lambda t: t[:12]
)
def test_ordinary_lists_and_tables_are_searched(text: str) -> None:
    done = read("markdown", text.encode())
    assert "".join("".join(searched(done)).split()) == "".join(text.split())


def test_tables_are_searched_whatever_their_numbers_are() -> None:
    rows = (("Town", "Page"), *((f"Town {n}", str(n)) for n in range(12)))
    done = read("docx", docx(Heading("Towns"), Table(rows), Bullet("One more town.")))
    assert all(f"Town {n}" in "\n".join(searched(done)) for n in range(12))


def test_a_document_of_nothing_else_is_searched_as_it_is() -> None:
    text = "\n".join(f"Part {n} {'.' * 30} {n}" for n in range(1, 9))
    assert "Part 8" in read("text", text.encode()).text
    assert not read("text", text.encode()).sections
