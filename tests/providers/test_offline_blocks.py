"""The extractive answerer's longer quotes: code, steps, rows and what stands under a heading."""

from __future__ import annotations

import pytest

from helix.domain.relevance import SourcePlace
from helix.providers.offline.extract import answer_of
from helix.providers.offline.reading import Offered, OfferedSource
from tests.providers.test_offline_answerer import HANDBOOK
from tests.support.offline_answers import ask_over as ask

SALES = """Sales by region
Region: EMEA | Quarter: Q1 | Revenue: 12
Region: APAC | Quarter: Q1 | Revenue: 31
Region: EMEA | Quarter: Q2 | Revenue: 17 | Note: It rose. Why? | Owner: Dr. Ortiz"""
PLANS = """# Plans

| Plan | Price per month | Support |
|---|---|---|
| Basic | 9 euros | by mail |
| Team | 29 euros | by phone |"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What was the revenue of APAC in Q1?",
            "Region: APAC | Quarter: Q1 | Revenue: 31 [1]",
        ),
        (
            "What was the revenue of EMEA in Q2?",
            "Region: EMEA | Quarter: Q2 | Revenue: 17 | Note: It rose. Why? | Owner: Dr. Ortiz [1]",
        ),
        ("What does the Team plan cost per month?", "| Team | 29 euros | by phone | [2]"),
        ("What support does the Basic plan have?", "| Basic | 9 euros | by mail | [2]"),
    ],
)
def test_a_row_of_a_table_is_quoted_alone_and_whole(question: str, expected: str) -> None:
    assert ask(question, SALES, PLANS) == expected


def test_wrapped_and_justified_lines_become_one() -> None:
    wrapped = "Refunds  are accepted\n   within   30 days\r\nof purchase."
    assert ask("Within how many days are refunds accepted?", wrapped) == (
        "Refunds are accepted within 30 days of purchase. [1]"
    )


@pytest.mark.parametrize(
    "heading",
    ["## Falcon 2.9.0 (23 October 2019)", "Falcon 2.9.0 (23 October 2019)\n======================"],
)
def test_a_heading_that_answers_is_quoted_without_its_marks(heading: str) -> None:
    notes = f"{heading}\n\nThe index keeps its order.\n\nPages are read once."
    assert ask("When was Falcon 2.9.0 released?", notes) == (
        "Falcon 2.9.0 (23 October 2019) [1]\n\nThe index keeps its order. [1]"
    )


SETUP = """# Falcon server

## Installing

To install Falcon on Debian, run these commands:

```sh
apt update
apt install falcon
  --yes
```

## Removing

To remove Falcon with its data, run:

    apt purge falcon
    rm -r /var/lib/falcon[1]

## Backups

1. Stop the service.
2. Copy `/var/lib/falcon` to another disk.
3. Start the service again."""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I install Falcon on Debian?",
         "To install Falcon on Debian, run these commands: [1]\n"
         "```\napt update\napt install falcon\n  --yes\n```\n[1]"),
        ("How do I remove Falcon with its data?",
         "To remove Falcon with its data, run: [1]\n"
         "```\napt purge falcon\nrm -r /var/lib/falcon(1)\n```\n[1]"),
    ],
)  # fmt: skip
def test_code_is_quoted_in_its_lines(question: str, expected: str) -> None:
    assert ask(question, SETUP) == expected


def test_what_stands_under_the_heading_asked_about_answers() -> None:
    leave, rest = HANDBOOK.index("## Parental"), HANDBOOK.index("Meals")
    sections = (
        OfferedSource(1, HANDBOOK[:leave], SourcePlace("Handbook", ("Handbook", "Vacation"))),
        OfferedSource(
            2, HANDBOOK[leave:rest], SourcePlace("Handbook", ("Handbook", "Parental leave"))
        ),
    )
    assert answer_of(Offered("How long is parental leave?", sections)) == (
        "Primary caregivers receive 16 weeks at full salary; secondary caregivers receive 6"
        " weeks. [2]"
    )


def test_steps_are_quoted_together() -> None:
    place = SourcePlace("Falcon server", ("Falcon server", "Backups"))
    steps = OfferedSource(1, SETUP[SETUP.index("## Backups") :], place)
    assert answer_of(Offered("How do I back up Falcon?", (steps,))) == (
        "1. Stop the service. [1]\n2. Copy `/var/lib/falcon` to another disk. [1]\n"
        "3. Start the service again. [1]"
    )


def test_a_row_of_many_cells_is_quoted_whole() -> None:
    """A few of its cells have lost the name of their row, or end in front of a value."""
    rows = [
        " | ".join([f"Store: {name} | City: {city}", *(f"Day {n}: {n}" for n in range(60))])
        for name, city in (("North", "Oslo"), ("South", "Bergen"), ("East", "Molde"))
    ]
    assert ask("Which store is in Bergen?", "\n".join(rows)) == f"{rows[1]} [1]"


def test_a_directive_between_blocks_of_code_is_in_neither() -> None:
    text = (
        "To install the tool, run these commands:\n\n.. code-block:: console\n\n"
        "   $ pip install tool\n   $ tool init\n\n.. code-block:: console\n\n"
        "   $ tool start --all"
    )
    first, second = "$ pip install tool\n$ tool init", "$ tool start --all"
    assert ask("Which commands install the tool?", text) == (
        "To install the tool, run these commands: [1]\n"
        f"```\n{first}\n```\n[1]\n```\n{second}\n```\n[1]"
    )
