"""Words: case-folded, numbers and identifiers whole, pairs where a script has no spaces."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.language.words import _plain, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Error 404B", ["the", "error", "404b"]),
        ("under § 3.2 and §4", ["under", "§3.2", "and", "§4"]),
        ("GPT-4 and SARS-CoV-2", ["gpt-4", "and", "sars-cov-2"]),
        ("a 30-day refund", ["a", "30", "day", "refund"]),
        ("1,000.5 euros, 3.5%", ["1,000.5", "euros", "3.5"]),
        ("don’t x_y", ["don't", "x", "y"]),
        ("12 km² at 10⁶", ["12", "km2", "at", "10⁶"]),
        ("The paper⁷ says", ["the", "paper", "says"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("日本語 です", ["日本", "本語", "です"]),
        ("于2024年成立", ["于", "2024", "年成", "成立"]),
        ("人々がiPhone15を買う", ["人々", "々が", "iphone15", "を買", "買う"]),
        ("ﾎﾜｲﾄﾎﾞｰﾄﾞ", words("ホワイトボード")),
        ("本日の会\r\n　　議は中止", words("本日の会議は中止")),
        ("本日\n\n会議", ["本日", "会議"]),
        ("ABC社は12人", ["abc", "社は", "12", "人"]),
        ("", []),
        ("?! …", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_are_folded_and_come_from_the_text(text: str) -> None:
    folded = _plain(text).casefold().replace("’", "'")
    for word in words(text):
        assert word
        assert word in folded or "§" in word or word in unicodedata.normalize("NFKC", folded)


@pytest.mark.parametrize("unit", ["a-", "a", "1.", "1,", "§ ", "a'", "日", "- "])
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        return min(_timed(text) for _ in range(3))

    assert seconds(400_000) < 30 * seconds(50_000) + 0.05


def _timed(text: str) -> float:
    start = time.process_time()
    words(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("§ 15a", ["§15a"]),
        ("§\u00a077 and §\u202f3.1", ["§77", "and", "§3.1"]),
        ("§  4", ["§4"]),
        ("§ 15 a contract", ["§15", "a", "contract"]),
        ("§15ab", ["§15", "ab"]),
        ("Ku\u0308ndigung", ["kündigung"]),
        ("GPT\u20114", ["gpt-4"]),
    ],
)
def test_one_spelling_for_what_looks_the_same(text: str, expected: list[str]) -> None:
    assert words(text) == expected
