"""Headings of plain text: underlined, at a margin of their own, or numbered."""

from __future__ import annotations

import time

import pytest

from pipelines.readers import read


def test_underlined_lines_are_the_headings_of_plain_text() -> None:
    text = (
        "=======\r\n Guide\r\n=======\r\n\r\nHello.\n\nFirst\n-----\nOne.\n\nDeep\n~~~~\nTwo.\n\n"
        "Second\n------\nA last line\n\nName   Day\n----------\nof no\n-----\n\ntoo long\n---\n"
    )
    done = read("text", text.encode())
    assert done.text == text
    paths = [("Guide",), ("Guide", "First"), ("Guide", "First", "Deep"), ("Guide", "Second")]
    assert [section.heading_path for section in done.sections] == paths
    assert done.text[done.sections[2].start :].startswith("Deep\n~~~~\nTwo.")


def test_a_rule_between_texts_underlines_none_of_them() -> None:
    rule = "-" * 30
    log = f"{rule}\nr2 | bob\n\nMend the lamp\n{rule}\nr1 | al\n\nBegin\n{rule}\n"
    assert not read("text", log.encode()).sections
    longer = f"{log}\n{'x' * 30}\n{rule}\nText.\n\n{rule}\nOver\n{rule}\nText.\n"
    paths = [one.heading_path for one in read("text", longer.encode()).sections]
    assert paths == [(), ("x" * 30,), ("x" * 30, "Over")]


MANUAL = """MEND(1)                  User Commands                  MEND(1)

NAME
       mend - mends lamps
       and cups

OPTIONS
   Of lamps
       -f, --force
              Mend what is whole too.

       colour name
              the colour of the lamp

   Of cups
       -g     Glue cups.

SEE ALSO
       break(1)

mend 1.0                    2026-11-30                    MEND(1)
"""


def test_lines_at_the_margin_are_the_headings_of_a_manual_page() -> None:
    done = read("text", MANUAL.encode())
    assert done.text == MANUAL
    assert done.title == "mend - mends lamps and cups"
    under = ("OPTIONS", "Of lamps"), ("OPTIONS", "Of cups")
    paths = [one.heading_path for one in done.sections]
    assert paths == [(), ("NAME",), *under, ("SEE ALSO",)]
    assert done.text[done.sections[2].start :].startswith("OPTIONS\n   Of lamps\n")


def test_numbers_say_how_deep_a_heading_at_the_margin_is() -> None:
    rfc = "1.  Aim\n\n   Text.\n\n1.1.  Scope\n\n   Text.\n\nAppendix A.  More\n\n   Text.\n"
    paths = [one.heading_path for one in read("text", rfc.encode()).sections]
    assert paths == [("1. Aim",), ("1. Aim", "1.1. Scope"), ("Appendix A. More",)]


@pytest.mark.parametrize(
    "text",
    [
        "Milk\n  for tea\n\nBread\n  for Tom\n\nThen we went home\nand slept well\nall night.\n",
        "def mend():\n    pass\n\ndef glue():\n    pass\n\ndef paint():\n    pass\n",
        "Name    Day\n  Tom   Monday\n\nName    Day\n  Ann   Friday\n\nName  Day\n  Al  May\n",
    ],
)
def test_text_that_goes_on_at_the_margin_has_no_headings_there(text: str) -> None:
    assert not read("text", text.encode()).sections


def test_numbers_that_go_on_from_each_other_are_headings() -> None:
    text = (
        "1. Aim\n2. Means\n2.1 Glue\n3. End\n\n1. Aim\n\nWe mend.\n\n4. Not yet\n\n2. Means\n"
        "2.1 Glue\n\n1. a list\n\n2. of steps\n\nText.\n\n2.2 Paint\n\nText.\n\n3. End\n\nText.\n"
    )
    paths = [one.heading_path for one in read("text", text.encode()).sections]
    assert paths == [
        (),
        ("1. Aim",),
        ("2. Means", "2.1 Glue"),
        ("2. Means", "2.2 Paint"),
        ("3. End",),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. Milk\n\n2. Bread\n\n3. Tea\n\n4. Jam\n",
        "1. Milk.\n\nx\n\n2. Tea.\n\nx\n\n3. Jam.\n\nx\n",
    ],
)
def test_a_numbered_list_has_no_headings(text: str) -> None:
    assert not read("text", text.encode()).sections


@pytest.mark.parametrize(
    "text",
    [
        "=====\nSO-4\n=====\nSO-5\n=====\nSO-6\n=====\n",
        "Orders\n\n=========\nSO-4 open\n=========\nSO-5 sent\n=========\n",
    ],
)
def test_lines_that_share_the_runs_between_them_are_records(text: str) -> None:
    assert not read("text", text.encode()).sections


@pytest.mark.parametrize(
    "line", ["a\n", " a\n\n", "1. a\n\n", "1.1.1 a\n", "\t", "  ", "A.  b\n c\n"]
)
def test_eight_times_the_lines_take_some_eight_times_as_long(line: str) -> None:
    small, large = (f"a{line * (size // len(line))}".encode() for size in (50_000, 400_000))
    once = min(_timed(small) for _ in range(3))
    # no more than once, but where something else took the processor
    assert any(_timed(large) < 30 * once + 0.05 for _ in range(3))


def _timed(data: bytes) -> float:
    start = time.process_time()
    read("text", data)
    return time.process_time() - start
