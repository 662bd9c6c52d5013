"""Navigation told from text: by pages, order, links and repetition, never by words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.language.navigation import is_navigation, is_within, navigation_spans
from tests.support.fillers import FILLERS, filled, processor_seconds

DOTS = " . . . . . . . "
JOINED = f"1 Start{DOTS}1 2 Parser{DOTS}4 2.1 Trees{DOTS}5 3 Writer{DOTS}12"
"""The lines of a list, joined as an earlier reader did."""


@pytest.mark.parametrize(
    "text",
    ["2.1.", "2.1", "# 4.", "A.2", "12", JOINED, JOINED.replace(" . ", "…"),
     "Vorwort\tiii\nTeil A........1\nTeil B........9\nTeil C.......17\nTeil D.......44",
     "- [Uno](#uno)\n- [Dos](#dos)\n  1. [Tres](#tres)",
     "base de datos, 3, 8\nconexión, 4\nfila, 9–12\ntabla, 2, 5, 7\nvista, 6"],
)  # fmt: skip
def test_what_leads_elsewhere(text: str) -> None:
    assert is_navigation(text)


@pytest.mark.parametrize(
    "text",
    ["", "The 2.1 release adds views.", "Refunds within 30 days.", "42 EUR", "Step 2", "2.1 Trees",
     "Coffee ........ 2.50\nCake ........ 3.10\nTea ........ 1.90\nWater ........ 0.50",
     "Bronze ..... 9\nSilver ..... 4\nGold ..... 7\nPlatinum ..... 2\nBrass ..... 5",
     "Alabama, 67\nAlaska, 30\nArizona, 15\nArkansas, 75\nCalifornia, 58",
     "- [Uno](https://a.example)\n- [Dos](https://b.example)\n- [Tres](https://c.example)",
     "1. Open the valve\n2. Wait a minute\n3. Close the valve"],
)  # fmt: skip
def test_what_says_something(text: str) -> None:
    assert not is_navigation(text)


def test_a_heading_by_itself_is_navigation_where_it_is_known_as_one() -> None:
    assert is_navigation("## Daily operation", ("Handbook", "Daily Operation"))
    assert not is_navigation("Daily operation is easy.", ("Handbook", "Daily Operation"))
    assert not is_navigation("§", ("", "—"))


def test_a_list_is_found_within_a_text_with_its_name() -> None:
    text = f"Title\n\nWords of the author.\n\nInhalt\n\n{JOINED}\n\n1 Start\n\nIt starts."
    [(start, end)] = navigation_spans(text)
    assert text[start:end] == f"Inhalt\n\n{JOINED}"
    places = [at for at in range(len(text)) if is_within([(start, end)], at)]
    assert places == list(range(start, end))


@given(st.text(alphabet="ab1.\n\f |-#[]()…", max_size=400))
def test_spans_are_whole_lines_in_order_and_apart(text: str) -> None:
    spans = navigation_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for start, end in spans:
        before = text[:start].rpartition("\n")[2].rpartition("\f")[2]
        assert not before.strip() and text[start:end].strip() == text[start:end]


@pytest.mark.parametrize("filler", FILLERS)
def test_the_work_grows_with_the_length(filler: str) -> None:
    def seconds(length: int) -> float:
        return processor_seconds(navigation_spans, filled(filler, length))

    assert seconds(100_000) <= 30 * max(seconds(11_000), 0.005)
