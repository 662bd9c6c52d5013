"""Items and steps of lists: which of them are quoted together."""

from __future__ import annotations

import time

import pytest

from helix.evidence.blocks import Layout
from helix.language.sentences import Passage, units_of
from tests.support.quoted_units import quoted

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


def test_an_item_of_thousands_of_sentences_is_walked_once() -> None:
    passage = Passage("There is one:\n\n- The item. " + "It goes on. " * 4000)
    layout = Layout(passage, units_of([passage]))
    started = time.process_time()
    assert layout.quoted(0)[:2] == [0, 1]
    assert time.process_time() - started < 2  # each sentence's way to its item: 10 seconds
