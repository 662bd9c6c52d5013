"""Units quoted together: lists with what announces them, commands, what stands under headings."""

from __future__ import annotations

import pytest

from helix.evidence.blocks import Layout
from helix.language.sentences import Passage, units_of
from tests.support.quoted_units import quoted

RELEASE = """Publishing
----------

On the day of the release, do this:

#. Tag the commit.

#. Upload the archive. It must be
   signed.

#. Write to the list.

Later fixes are made on a branch."""


FAQ = """…find the configuration file?
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

You create it yourself. It is read at the start.

.. _move:

…upgrade to the newest version?
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

Run a command like this:

::

    pip install -U tool

The ``-U`` flag upgrades it."""


FENCED = """To see the messages run:

```bash
# all of them
journalctl --user
```

They are kept for a week."""


EXAMPLE = """Name each argument. Example file: [argument.js](./argument.js)

```js
program.argument('<user>');
```

The last argument may be variadic."""


TABLE = """Prices of plans
| Plan | Price |
|---|---|
| Basic | 9 euros |
| Team | 29 euros |"""


NUMBERED = """7.2. Appointment

The secretary is appointed by the leader. The term is one year."""


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        (
            RELEASE, "On the day",
            ["On the day of the release, do this:", "#. Tag the commit.", "#. Upload the archive.",
             "It must be signed.", "#. Write to the list."],
        ),
        (RELEASE, "#. Upload", ["#. Upload the archive.", "It must be signed."]),
        (RELEASE, "Later", ["Later fixes are made on a branch."]),
        (RELEASE, "Publishing",
         ["On the day of the release, do this:", "#. Tag the commit.", "#. Upload the archive.",
          "It must be signed.", "#. Write to the list."]),
        (FAQ, "…find", ["You create it yourself.", "It is read at the start."]),
        (FAQ, "The ``-U``",
         ["Run a command like this:", "pip install -U tool", "The ``-U`` flag upgrades it."]),
        (FENCED, "To see",
         ["To see the messages run:", "# all of them", "journalctl --user"]),
        (EXAMPLE, "The last", ["The last argument may be variadic."]),
        (TABLE, "| Team", ["| Team | 29 euros |"]),
        (f"The plans are:\n\n{TABLE.partition(chr(10))[2]}", "The plans",
         ["The plans are:", "| Basic | 9 euros |", "| Team | 29 euros |"]),
        (TABLE, "Prices", []),
        (NUMBERED, "7.2.", []),
        (NUMBERED, "The secretary",
         ["The secretary is appointed by the leader.", "The term is one year."]),
    ],
)  # fmt: skip
def test_what_belongs_together_is_quoted_together(
    text: str, start: str, expected: list[str]
) -> None:
    assert quoted(text, start) == expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("## 2.9.0 (23 October 2019)", ["## 2.9.0 (23 October 2019)", "Fixes a crash."]),
        ("## What is new?", ["Fixes a crash."]),
        ("What is new?\n============", ["Fixes a crash."]),
    ],
)
def test_a_heading_far_likelier_than_what_stands_under_it_is_quoted_with_it(
    heading: str, expected: list[str]
) -> None:
    passage = Passage(f"{heading}\n\nFixes a crash.")
    units = units_of([passage])
    places = Layout(passage, units).quoted(0, goes_on=lambda _: False)
    assert [units[at].text for at in places] == expected


def test_a_list_that_is_too_long_is_quoted_by_its_items_first_sentences() -> None:
    more = " ".join(["word"] * 20)
    items = [f"{n}. Item {n}. It has {more}.\n\n   - part\n\n   More of {n}.\n" for n in (1, 2, 3)]
    said = ["There are three:", "1. Item 1.", "2. Item 2.", "3. Item 3."]
    assert quoted("There are three:\n\n" + "\n".join(items) * 2, "There")[:4] == said


def test_further_paragraphs_of_an_item_belong_to_an_announced_list() -> None:
    text = "Do this:\n\n1. Tag it.\n\n   It is signed.\n\n2. Upload it.\n\nThat is all."
    assert quoted(text, "Do") == ["Do this:", "1. Tag it.", "It is signed.", "2. Upload it."]


def test_under_a_heading_that_asks_the_whole_paragraph_answers() -> None:
    passage = Passage("## Has it an index?\n\nYes. It keeps its order.\n\nPages are read once.")
    units = units_of([passage])
    places = Layout(passage, units).quoted(0, goes_on=lambda _: False)
    assert [units[at].text for at in places] == ["Yes.", "It keeps its order."]


def test_a_paragraph_is_quoted_as_far_as_its_words_go() -> None:
    text = " ".join(f"Sentence {n} has nine words in it, all told." for n in range(20))
    said = quoted(text, "Sentence 3 ")
    assert said[0].startswith("Sentence 3 ") and 4 <= len(said) <= 8


@pytest.mark.parametrize("heading", ["4.3. The config file", "C6. It works by hand. Why?"])
def test_a_numbered_heading_is_no_answer(heading: str) -> None:
    said = quoted(f"{heading}\n\nFields are parted by tabs.", heading.split(". ")[1], heading)
    assert said == ["Fields are parted by tabs."]
    marked = quoted(f"## {heading}\n\nFields are parted by tabs.", heading.split(". ")[1])
    assert marked == ["Fields are parted by tabs."]


CONTENTS = """1 Start . . . . . . . . 1
2 Parser . . . . . . . . 4
2.1 Trees . . . . . . . . 5
3 Writer . . . . . . . . 12

The parser makes trees."""


def test_contents_are_not_quoted() -> None:
    passage = Passage(CONTENTS)
    units = units_of([passage])
    layout = Layout(passage, units)
    found = [layout.quoted(unit.place) for unit in units]
    assert len(found) > 4 and found[-1] == [units[-1].place]
    assert not any(found[:-1])


TERMS = """Terms of loans.

Promissory Note

The legal agreement about a loan. It is signed.

Loan Fee

- A fee

It is paid once.

- Each
  - Of two. And more.

    In the second.

  In the first."""


def test_a_term_alone_is_quoted_with_the_paragraph_behind_it() -> None:
    assert quoted(TERMS, "Promissory") == [
        "Promissory Note", "The legal agreement about a loan.", "It is signed.",
    ]  # fmt: skip
    assert quoted(TERMS, "The legal") == ["The legal agreement about a loan.", "It is signed."]
    assert quoted(TERMS, "Loan") == ["Loan Fee"]
    assert quoted(TERMS, "- A fee") == ["- A fee"]
    assert quoted(TERMS, "In the second") == ["- Of two.", "In the second."]
    assert quoted(TERMS, "In the first") == ["- Each", "In the first."]
    assert quoted(TERMS, "Terms") == ["Terms of loans."]


OPTIONS = """  -a, --all
      Count files that begin with a dot. Others are counted anyway.

      It takes longer.

  --format NAME
      The format is told by its name.

  Sizes

  They are scaled."""


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("-a", ["-a, --all", "Count files that begin with a dot.", "Others are counted anyway."]),
        ("Others", ["-a, --all", "Others are counted anyway."]),
        ("It takes", ["-a, --all", "It takes longer."]),
        ("--format", ["--format NAME", "The format is told by its name."]),
        ("The format", ["--format NAME", "The format is told by its name."]),
        ("They", ["They are scaled."]),
    ],
)
def test_a_definition_that_is_moved_in_is_quoted_with_its_term(
    start: str, expected: list[str]
) -> None:
    assert quoted(OPTIONS, start)[: len(expected)] == expected


def test_what_leads_to_a_sentence_is_quoted_as_far_back_as_told() -> None:
    text = "One is here. Two is here. Three is here.\n\nFour is here. Five is here."
    passage = Passage(text)
    layout = Layout(passage, units_of([passage]))

    def led(place: int, *leads: int) -> list[int]:
        return layout.quoted(place, goes_on=lambda _: False, leads=leads.__contains__)

    assert led(2, 1) == [1, 2] and led(2, 0) == [2] and led(2, 0, 1) == [0, 1, 2]
    assert led(3, 2) == [3], "of another paragraph"
    long = Passage(f"{'word ' * 50}ends. {'word ' * 20}ends.")
    assert Layout(long, units_of([long])).quoted(1, leads=lambda _: True) == [1]


IMAGE = """An image can be copied to a drive. It is all that is on it then. Do it like this:

```
dd if=image of=drive
```

Wait until it ends."""


def test_a_paragraph_is_quoted_as_far_as_the_command_that_it_ends_with() -> None:
    passage = Passage(IMAGE)
    units = units_of([passage])

    def said(place: int) -> list[str]:
        quoted = Layout(passage, units).quoted(place, goes_on=lambda _: False)
        return [units[at].text for at in quoted]

    assert said(0) == [*(unit.text for unit in units[:3]), "dd if=image of=drive"]
    assert said(2) == [units[2].text, "dd if=image of=drive"]


def test_what_is_announced_may_announce_in_its_turn() -> None:
    text = (
        "It can be done as follows:\n\n538\n\nSay it so:\n\n539\n\n$ tool --user=me\n\nAll is well."
    )
    said = ["It can be done as follows:", "Say it so:", "$ tool --user=me"]
    assert quoted(text, "It can") == said and quoted(text, "Say") == said[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Create it\n    ```sql\n    CREATE DATABASE one;\n    ```", ["CREATE DATABASE one;"]),
        ("Modes\n    - local mode\n    - shared mode", ["- local mode", "- shared mode"]),
        ("Modes\n    # Local\n    It is here.", ["It is here."]),
    ],
)
def test_a_line_over_what_is_no_text_is_no_term(text: str, expected: list[str]) -> None:
    assert quoted(text, text.split("\n")[0]) == expected


@pytest.mark.parametrize("line", ["notes.txt", "Ratio 1:2"])
def test_a_line_with_stops_within_its_words_is_quoted_with_what_is_behind_it(line: str) -> None:
    assert quoted(f"Text.\n\n{line}\n\nIt is set there.", line) == [line, "It is set there."]
