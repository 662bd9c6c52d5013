"""Facts read by rule from the first pages of documents of many kinds, and titles made of them."""

from __future__ import annotations

import pytest

from pipelines.facts import facts_of
from pipelines.facts.title import is_informative, people, title_of
from pipelines.readers import ReadText

FILING = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM 10-Q
☒ QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d)
For the quarterly period ended July 1, 2023
Commission File Number: 001-99999
MERIDIAN HARBOR, INC.
(Exact name of registrant as specified in its charter)
Delaware 99-1234567
Common Stock, $0.001 par value MHBR The Nasdaq Stock Market LLC

Meridian Harbor, Inc. makes pumps. In the third quarter of 2023 sales rose. The third quarter of
2023 had 13 weeks, as the third quarter of 2022 had.
"""
MADE = "Meridian Harbor, Inc. 10-Q, quarter ended July 1, 2023"
ANNUAL = """Nordvik Shipping
Annual Report 2021
To our shareholders
Nordvik Shipping ASA owns vessels. Nordvik Shipping ASA is listed. The board of Nordvik Shipping ASA
met.
"""
AGREEMENT = """MASTER SERVICES AGREEMENT

This Agreement is entered into as of March 3, 2020 by and between Acme Widgets, Inc., a Delaware
corporation ("Supplier"), and Beta Logistik GmbH ("Customer").
"""
PAPER = """Slow pumps in cold water

Ana María López1, Wei Chen2 and K. Okafor

Published: 4 May 2019
doi:10.1234/pumps.2019.7

Abstract
Cold water slows pumps.

1 Introduction
"""
MANUAL = """Aurora 300
User's Guide
© 2022 Boreal Heating Ltd. All rights reserved.
Part No. AH-3001
"""


def _facts(text: str, name: str = "file.pdf", title: str | None = None) -> dict[str, str]:
    return {key: fact.text for key, fact in facts_of(ReadText(text, title), name).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            FILING,
            {
                "kind": "10-Q", "company": "Meridian Harbor, Inc.", "ticker": "MHBR",
                "period": "quarter ended July 1, 2023", "fiscal": "Q3 2023",
                "period_end": "2023-07-01", "identifier": "001-99999",
            },
        ),
        (ANNUAL, {"kind": "annual report", "company": "Nordvik Shipping ASA", "period": "2021"}),
        (
            AGREEMENT,
            {
                "kind": "agreement", "parties": "Acme Widgets, Inc.; Beta Logistik GmbH",
                "date": "March 3, 2020",
            },
        ),
        (
            PAPER,
            {
                "kind": "paper", "author": "Ana María López; Wei Chen; K. Okafor",
                "identifier": "10.1234/pumps.2019.7", "date": "published 4 May 2019",
            },
        ),
        (MANUAL, {"kind": "manual", "company": "Boreal Heating Ltd.", "identifier": "AH-3001"}),
        ("Dear Ms Lind,\n\nThe pump is mended.\n\nKind regards\nOle", {"kind": "letter"}),
        ("INVOICE\nInvoice No. 2021-044\nDate: 2021-05-01", {"kind": "invoice"}),
        ("Minutes of the board meeting\nHeld on 5 May 2020", {"kind": "minutes"}),
    ],
)  # fmt: skip
def test_a_document_says_what_it_is(text: str, expected: dict[str, str]) -> None:
    found = _facts(text)
    assert {key: found.get(key) for key in expected} == expected


def test_prose_in_lines_of_one_length_has_no_headline() -> None:
    notice = """Guide for Keepers of Pumps

    THE PUMP IS PROVIDED AS IT STANDS, AND THE MAKERS ARE NOT LIABLE
    FOR ANY CLAIM OR OTHER LIABILITY, WHETHER IN AN ACTION OF
    CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
    WITH THE PUMP OR ITS USE.
    """
    assert "kind" not in _facts(notice)
    assert _facts(f"LEASE AGREEMENT\n\n{notice}")["kind"] == "agreement"


@pytest.mark.parametrize("text", [FILING, ANNUAL, AGREEMENT, PAPER, MANUAL])
def test_a_fact_is_where_its_span_says(text: str) -> None:
    for name, fact in facts_of(ReadText(text), "file.pdf").items():
        if fact.span and name in ("company", "author", "ticker", "identifier"):
            printed = text[slice(*fact.span)].casefold()
            first = fact.text.split()[0].strip(",;").casefold()
            assert first in printed, name


@pytest.mark.parametrize(
    "text",
    [
        "The target of the plan is speed. It is a plan.",
        "Apples and pears\n\nAn apple a day.",
        "Questions and answers about holidays\n\nWho may take them?",
        "Licence of pumps\n\n4. Limits of copyright\nNothing in it takes a right away.",
    ],
)
def test_a_text_that_says_nothing_of_itself_has_no_company(text: str) -> None:
    assert not {"company", "period", "author"} & _facts(text).keys()


def test_a_heading_that_is_referred_to_often_is_no_company() -> None:
    refers = "The owner is set by create (see the section USER AND GROUP for details).\n" * 40
    text = f"System Manual\n\n{refers}\nUSER AND GROUP\nThe default user and group is root.\n"
    assert _facts(text) == {"kind": "manual"}
    assert _facts(text.replace("user and group", "one"))["company"] == "User AND Group"


@pytest.mark.parametrize("size", [20_000, 200_000])
def test_hostile_text_is_read_in_time(size: int) -> None:
    """Within the timeout of a test; and no fact is a whole of what repeats without end."""
    for piece in ("A", "A ", "Inc. ", "between A, ", "first quarter of ", "A B; ", "(", '("A'):
        facts = _facts("between " + piece * (size // len(piece)))
        assert max(map(len, facts.values()), default=0) < 1_000, piece


@pytest.mark.parametrize(
    ("own", "heading", "text", "expected"),
    [
        ("04.01.2023 10Q Document", None, FILING, MADE),
        ("Form 10-Q for Meridian Harbor filed 10/24/2022", "FORM 10-Q", FILING, MADE),
        (None, "Annual Report 2021", ANNUAL, "Nordvik Shipping ASA annual report, 2021"),
        ("Slow pumps in cold water", None, PAPER, "Slow pumps in cold water"),
        ("Document 3", "Pumps for cellars", "Pumps for cellars", "Pumps for cellars"),
        ("04.01.2023 Document", None, "Something", None),
    ],
)  # fmt: skip
def test_a_title_is_the_documents_own_where_it_says_something(
    own: str | None, heading: str | None, text: str, expected: str | None
) -> None:
    facts = facts_of(ReadText(text, own), "file.pdf")
    assert title_of(own, heading, facts, keep_own=False) == expected


def test_a_title_that_says_nothing_is_kept_where_it_is_the_documents_own() -> None:
    assert title_of("Overview", None, {}, keep_own=True) == "Overview"
    assert not is_informative("Overview", {})
    assert is_informative("Refund Policy", {})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Chen, Pei-Jer; Wu, T-C", ["Chen, Pei-Jer", "Wu, T-C"]),
        ("Ada Lovelace and Charles Babbage", ["Ada Lovelace", "Charles Babbage"]),
        ("The pump was mended by noon, and all was well", []),
        ("Nothing", []),
    ],
)
def test_people_are_told_from_sentences(text: str, names: list[str]) -> None:
    assert people(text) == names
