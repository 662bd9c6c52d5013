"""Names as they are kept: without what nobody sees, and with all that is part of a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.file_kinds import name_of_source, title_from_name
from helix.domain.input_text import visible_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Invoice \u202efdp.exe", "Invoice fdp.exe"),
        ("\u2067a\u2069\u200b b\ufeff\u00ad", "a b"),
        ("\x1b[31mRed\x07\r\n\u2028Two\x85", "[31mRed Two"),
        ("\ud800x\x00", "x"),
        ("a \u200b b", "a b"),
        ("می\u200cخواهم 👩\u200d🚒 \u200d", "می\u200cخواهم 👩\u200d🚒"),
        ("private \ue000", "private \ue000"),
        ("\u202e\u200b\u200d", ""),
    ],
)
def test_a_name_has_only_what_is_seen(text: str, line: str) -> None:
    assert visible_line(text) == line


@given(st.text())
def test_a_name_that_is_kept_is_kept_as_it_is(text: str) -> None:
    assert visible_line(visible_line(text)) == visible_line(text)


def test_names_of_files_are_titles_and_names_without_it() -> None:
    assert title_from_name("invoice\u202efdp.exe") == "Invoicefdp"
    assert title_from_name("\u202e\u200b") == "File"
    assert name_of_source("/in\u202evoices/a\u202efdp.exe") == "afdp.exe"
    assert name_of_source("https://example.com/a%E2%80%AEfdp.exe") == "afdp.exe"
