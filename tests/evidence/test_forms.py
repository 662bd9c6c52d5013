"""Forms of units: headings, fences, directives of code."""

from __future__ import annotations

import pytest

from helix.evidence.blocks import Layout
from helix.evidence.forms import Form
from helix.language.sentences import Passage, units_of


def test_a_line_that_the_headings_name_is_one() -> None:
    passage = Passage("Shipping\n\nIt takes two days.", "Handbook\nShipping")
    layout = Layout(passage, units_of([passage]))
    assert layout.forms == [Form.HEADING, Form.TEXT]


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [
        ("4.13.2. October 2000: Package pools", True),
        ("4.13 Package pools", True),
        ("2.8. Does it have package pools?", True),
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


def test_an_underline_of_tildes_is_no_fence() -> None:
    passage = Passage("Upgrading\n~~~~~~~~~\n\nGet the newest one.")
    layout = Layout(passage, units_of([passage]))
    assert layout.forms == [Form.HEADING, Form.MARK, Form.TEXT]


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


def test_a_heading_right_above_its_text_is_one_and_a_term_below_it_a_term() -> None:
    passage = Passage(
        "OPTIONS\n    -f, --force\n        Mend all.\n\n    glue\n        sticks to it",
        "mend\nOPTIONS",
    )
    units = units_of([passage])
    forms = Layout(passage, units).forms
    assert [one.text for one, form in zip(units, forms, strict=True) if form is Form.ITEM] == [
        "-f, --force",
        "glue",
    ]
    assert forms[0] is Form.HEADING
