"""Headings that name a record, such as a release with its date, quoted with what is under them."""

from __future__ import annotations

import pytest

from helix.evidence.forms import is_record
from helix.language.sentences import Passage, units_of
from tests.support.offline_answers import ask_over as ask

CHANGES = """## [3.18.0] - 2021-01-08

- allow numbers of users and groups (#217)
- add support for Zstandard compressed files (#355)

[3.18.0]: https://example.com/tool/compare/3.17.0...3.18.0"""


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("## [3.18.0] - 2021-01-08", True),
        ("25.0 (2025-01-26)", True),
        ("Release 1.2.3", True),
        ("Version 3.2 (May 2020)", True),
        ("4.3 Handling bugs", False),
        ("1 Introduction", False),
        ("### v2.1.0", True),
        ("### `http2_cleartext`", False),
        ("Compression", False),
        ("***", False),
    ],
)
def test_headings_of_numbers_and_dates_name_a_record(heading: str, expected: bool) -> None:
    assert is_record(heading) is expected


def test_an_entry_is_quoted_with_the_heading_that_names_its_record() -> None:
    answer = ask("Which release added support for Zstandard compressed files?", CHANGES)
    assert answer.startswith("[3.18.0] - 2021-01-08 [1]\n- add support for Zstandard")


def test_a_definition_of_a_link_is_no_unit() -> None:
    units = [unit.text for unit in units_of([Passage(CHANGES)])]
    assert units[-1] == "- add support for Zstandard compressed files (#355)"
    for said in ("[^1]: example.com/a", "[Speed]: km/h", "[Share]: .5", "[Answer]: yes/no"):
        assert [unit.text for unit in units_of([Passage(said)])] == [said]
    for link in ("[a]: <https://b.example>", "[1]: #there", "[top]: ../index.html"):
        assert not units_of([Passage(link)])
