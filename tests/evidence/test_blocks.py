"""Units quoted together: lists with what announces them, commands, what stands under headings."""

from __future__ import annotations

import pytest

from helix.evidence.blocks import Layout
from helix.evidence.forms import Form
from helix.evidence.units import Passage, units_of

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
TABLE = """Prices of plans
| Plan | Price |
|---|---|
| Basic | 9 euros |
| Team | 29 euros |"""
NUMBERED = """7.2. Appointment

The secretary is appointed by the leader. The term is one year."""


def quoted(text: str, start: str, headings: str = "") -> list[str]:
    """The units quoted with the unit that begins with ``start``, itself among them."""
    passage = Passage(text, headings)
    units = units_of([passage])
    layout = Layout(passage, units)
    place = next(unit.place for unit in units if unit.text.startswith(start))
    return [" ".join(units[at].text.split()) for at in layout.quoted(place)]


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        (
            RELEASE, "On the day",
            ["On the day of the release, do this:", "Tag the commit.", "Upload the archive.",
             "It must be signed.", "Write to the list."],
        ),
        (RELEASE, "Upload", ["Upload the archive.", "It must be signed."]),
        (RELEASE, "Later", ["Later fixes are made on a branch."]),
        (RELEASE, "Publishing",
         ["On the day of the release, do this:", "Tag the commit.", "Upload the archive.",
          "It must be signed.", "Write to the list."]),
        (FAQ, "…find", ["You create it yourself.", "It is read at the start."]),
        (FAQ, "The ``-U``",
         ["Run a command like this:", "pip install -U tool", "The ``-U`` flag upgrades it."]),
        (FENCED, "To see",
         ["To see the messages run:", "# all of them", "journalctl --user"]),
        (TABLE, "| Team", ["| Team | 29 euros |"]),
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


def test_a_paragraph_is_quoted_as_far_as_its_words_go() -> None:
    text = " ".join(f"Sentence {n} has nine words in it, all told." for n in range(20))
    said = quoted(text, "Sentence 3 ")
    assert said[0].startswith("Sentence 3 ") and 4 <= len(said) <= 8


def test_a_line_that_the_headings_name_is_one() -> None:
    passage = Passage("Shipping\n\nIt takes two days.", "Handbook\nShipping")
    layout = Layout(passage, units_of([passage]))
    assert layout.forms == [Form.HEADING, Form.TEXT]


@pytest.mark.parametrize("heading", ["4.3. The config file", "C6. It works by hand. Why?"])
def test_a_numbered_heading_is_no_answer(heading: str) -> None:
    said = quoted(f"{heading}\n\nFields are parted by tabs.", heading.split(". ")[1], heading)
    assert said == ["Fields are parted by tabs."]
    marked = quoted(f"## {heading}\n\nFields are parted by tabs.", heading.split(". ")[1])
    assert marked == ["Fields are parted by tabs."]


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [
        ("4.13.2. October 2000: Package pools", True),
        ("4.13 Package pools", True),
        ("4.13 The tenant pays for it.", False),
        ("4 Package pools", False),
        ("4.13.2.", False),
    ],
)
def test_a_line_alone_with_a_number_of_several_parts_is_a_heading(
    line: str, *, is_heading: bool
) -> None:
    passage = Passage(f"Text.\n\n{line}\n\n    James said that files lie in pools.")
    forms = Layout(passage, units_of([passage])).forms
    assert (Form.HEADING in forms) is is_heading


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


PARTS = """## Parts

- the lamp
- two screws
- a key

Keep them."""


def test_a_list_under_its_heading_is_quoted_whole() -> None:
    assert quoted(PARTS, "## Parts") == ["- the lamp", "- two screws", "- a key"]


def test_the_first_item_of_a_list_is_no_heading() -> None:
    assert quoted(PARTS, "- the lamp") == ["- the lamp"]


def test_an_item_is_quoted_with_the_items_beside_it_that_are_like_it() -> None:
    passage = Passage(PARTS)
    units = units_of([passage])
    layout = Layout(passage, units)
    first, last = (at for at, one in enumerate(units) if one.text in ("- the lamp", "- a key"))
    assert layout.alike(last, lambda _: True) == [first, first + 1, last]
    assert layout.alike(first, lambda at: at < last) == [first, first + 1]
    assert layout.alike(last, lambda at: at == first) == [last]


def test_steps_are_quoted_with_all_in_front_of_them() -> None:
    passage = Passage(
        "To change it:\n\n1. Switch it off.\n   - Pull the plug.\n2. Open it.\n3. Wait."
    )
    units = units_of([passage])
    layout = Layout(passage, units)
    plug, opened, wait = (
        next(at for at, one in enumerate(units) if said in one.text)
        for said in ("Pull", "Open", "Wait")
    )
    assert layout.alike(opened, lambda at: at == wait) == [plug - 1, plug, opened, wait]
    assert layout.alike(opened, lambda _: False) == [opened], "one step alone may be what is asked"
    assert layout.alike(plug, lambda at: at == opened) == [plug, opened]


@pytest.mark.parametrize(
    ("text", "asked", "quoted"),
    [
        ("1. Get it.\n2. Run it.\n\n1. Stop it.\n2. Wait.\n3. Go.", "Wait", "1. Stop 2. Wait"),
        ("- A lamp.\n- A key.\n\n1. Stop it.\n2. Wait.\n3. Go.", "Wait", "1. Stop 2. Wait"),
        ("1. Stop it.\n3. Wait.\n4. Go.", "Wait", "3. Wait"),
        (f"1. {'It stops. ' * 70}\n2. Wait.\n3. Go.", "Wait", "2. Wait"),
    ],
)
def test_the_steps_of_one_list_are_quoted_from_the_first_where_they_are_short(
    text: str, asked: str, quoted: str
) -> None:
    passage = Passage(text)
    units = units_of([passage])
    chosen = next(at for at, one in enumerate(units) if asked in one.text)
    found = Layout(passage, units).alike(chosen, lambda at: at == chosen + 1)
    said = [" ".join(units[at].text.split()[:2]).rstrip(".") for at in found]
    assert " ".join(said) == f"{quoted} {said[-1]}"


TOLD = """The kinds are many. They are:
- lamps. They burn
  oil.
- keys."""


def test_the_sentences_of_an_item_belong_to_it() -> None:
    passage = Passage(TOLD)
    units = units_of([passage])
    layout = Layout(passage, units)
    texts = [one.text.split()[0] for one in units]
    assert [(text, form.value) for text, form in zip(texts, layout.forms, strict=True)] == [
        ("The", "text"), ("They", "text"), ("-", "item"), ("They", "text"), ("-", "item"),
    ]  # fmt: skip
    assert quoted(TOLD, "- lamps") == ["- lamps.", "They burn oil."]
    assert layout.alike(4, lambda _: True) == [2, 3, 4]


DEFINED = """There are two methods.

- scram: Hashes what is sent. Clients know the hash.
  This is the safest method.

  ```
  scram on
  ```

  Old clients lack it.

- plain: Sends it as it is.

Choose one of them."""


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("Clients", ["- scram: Hashes what is sent.", "Clients know the hash.",
                     "This is the safest method.", "scram on"]),
        ("This", ["- scram: Hashes what is sent.", "This is the safest method.", "scram on"]),
        ("Old", ["- scram: Hashes what is sent.", "This is the safest method.", "scram on",
                 "Old clients lack it."]),
        ("- plain", ["- plain: Sends it as it is."]),
        ("Choose", ["Choose one of them."]),
        ("There", ["There are two methods."]),
    ],
)  # fmt: skip
def test_a_later_sentence_of_an_item_is_quoted_with_its_beginning(
    start: str, expected: list[str]
) -> None:
    assert quoted(DEFINED, start) == expected


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


def test_an_underline_of_tildes_is_no_fence() -> None:
    passage = Passage("Upgrading\n~~~~~~~~~\n\nGet the newest one.")
    layout = Layout(passage, units_of([passage]))
    assert layout.forms == [Form.HEADING, Form.MARK, Form.TEXT]


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


@pytest.mark.parametrize(
    "text",
    [
        "```pip install x``` puts x there.\n\nIt costs 3 euros.",
        "1. ```bash\n   make\n   ```\n\nIt costs 3 euros.",
        "> ```\n> make\n> ```\n\nIt costs 3 euros.",
    ],
)
def test_a_fence_is_a_line_of_its_own_in_a_list_or_a_quote_too(text: str) -> None:
    passage = Passage(text)
    assert Layout(passage, units_of([passage])).forms[-1] is Form.TEXT


@pytest.mark.parametrize("line", ["notes.txt", "Ratio 1:2"])
def test_a_line_with_stops_within_its_words_is_quoted_with_what_is_behind_it(line: str) -> None:
    assert quoted(f"Text.\n\n{line}\n\nIt is set there.", line) == [line, "It is set there."]


DIRECTIVES = """Workers
=======

Tell all of them to read a queue:

.. code-block:: console
    :linenos:

    $ tool control add foo
    -> worker1.local: OK. It reads foo.

    $ tool control list

.. note::

    A worker that is busy is told later."""


def test_directives_of_code_hold_code_and_others_prose() -> None:
    passage = Passage(DIRECTIVES)
    units = units_of([passage])
    forms = Layout(passage, units).forms
    code = [one.text for one, form in zip(units, forms, strict=True) if form is Form.CODE]
    prose = [one.text for one, form in zip(units, forms, strict=True) if form is Form.TEXT]
    assert "".join(code).count("$ tool") == 2 and "It reads foo." in " ".join(code)
    assert prose == ["Tell all of them to read a queue:", "A worker that is busy is told later."]
