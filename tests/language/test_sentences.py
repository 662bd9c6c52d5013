"""Sentences as exact spans: invariants on any text, the cases that trip splitters, linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.language.sentences import sentence_spans, sentences

PIECES = st.sampled_from(
    [
        *" \n\t.!?…。！([{\"')]}*-#|>_1aé\u2028\x85\x1c",
        *("\r\n", "\n\n", "Dr.", "U.S.", "No. 3", "1. ", "- ", "word", " The end. ", "[12]", "3.5"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


@settings(max_examples=200)
@given(TEXTS)
@example(".[1][2] \n")
@example("…\x85a")
def test_spans_are_ordered_trimmed_and_cover_every_visible_character(text: str) -> None:
    spans = sentence_spans(text)
    covered: set[int] = set()
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert not text[start].isspace() and not text[end - 1].isspace()
        covered.update(range(start, end))
        last = end
    assert all(i in covered for i, character in enumerate(text) if not character.isspace())


@settings(max_examples=200)
@given(TEXTS)
def test_a_blank_line_separates_whatever_stands_around_it(text: str) -> None:
    assert sentences(f"{text}\n\nNext one.")[-1] == "Next one."


@pytest.mark.parametrize(
    "text",
    [
        "A jury awarded Bexley Corp. $27.5 million in damages.",
        "Marta J. Lindgren | Age: 58 | Position: Director",
        "Dr. Smith of the U.S. Army met John F. Kennedy, i.e. the senator.",
        "It cost $3.5 million (approx. 2.9 M€), see Fig. 2 and No. 3.",
        "Apple Inc. shares rose on Jan. 5, 2020.",
        "Am 3. Oktober ist z.B. Montag.",
        "Er ist z. B. Montag da, u. U. Dienstag.",
        'He asked "Really?" and left.',
        "We waited... and nothing came.",
        "J. A. Hobson and T. S. Eliot agreed.",
        "Refunds are accepted\nwithin 30 days\nof purchase.",
        "- a list item, wrapped\n  onto a second line",
        "The file version 2.0.1 is at www.example.com for you.",
    ],
)
def test_one_sentence_stays_one(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was late. We left.", ["It was late.", "We left."]),
        ('"Yes!" She left... Then he came.', ['"Yes!"', "She left...", "Then he came."]),
        ("„Ja.“ Er ging.", ["„Ja.“", "Er ging."]),
        ("»Ja.« Er ging. »Nein.«", ["»Ja.«", "Er ging.", "»Nein.«"]),
        ("他来了。“你好。”他说。", ["他来了。", "“你好。”", "他说。"]),
        ("« Oui. » Il part.", ["« Oui. »", "Il part."]),
        ("In the U.S. The law differs.", ["In the U.S.", "The law differs."]),
        ("Refundable? No. Items are final.", ["Refundable?", "No.", "Items are final."]),
        ("So it ends.[3] Next one.", ["So it ends.[3]", "Next one."]),
        ("(It is so.) Then we go.", ["(It is so.)", "Then we go."]),
        ("これは「本。」です！はい。", ["これは「本。」", "です！", "はい。"]),
        ("यह एक है। दूसरा है।", ["यह एक है।", "दूसरा है।"]),
        ("no capitals here. another one follows.", ["no capitals here.", "another one follows."]),
        ("1. First item\n2. Second item", ["1. First item", "2. Second item"]),
        ("Items:\n- gift cards\n- software", ["Items:", "- gift cards", "- software"]),
        ("#. Tag it.\n#. Go on.", ["#. Tag it.", "#. Go on."]),
        (
            "  -a\t  all of them\n  -b      both of the\n          two of them\n  --al    all",
            ["-a\t  all of them", "-b      both of the\n          two of them", "--al    all"],
        ),
        ("it  goes  on and  on\nas  some  men  set", ["it  goes  on and  on\nas  some  men  set"]),
        ("# Refunds\nWe pay back.", ["# Refunds", "We pay back."]),
        (
            "OPTIONS\n    -f, --force\n        mend what\n        is whole\n\n    --colour\n\tred",
            ["OPTIONS", "-f, --force", "mend what\n        is whole", "--colour", "red"],
        ),
        ("#. It must be\n   signed", ["#. It must be\n   signed"]),
        ("of a line that is\n      moved in.", ["of a line that is\n      moved in."]),
        (
            "Files\n   missing\n      Goes on to\n      the next.",
            ["Files", "missing", "Goes on to\n      the next."],
        ),
        (
            "Refund policy\nRefunds are accepted within 30 days of the purchase.",
            ["Refund policy", "Refunds are accepted within 30 days of the purchase."],
        ),
        ("no full stop\r\n\r\nnew paragraph", ["no full stop", "new paragraph"]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("|a. B|c. D|\n|---|---|\n|e|", ["|a. B|c. D|", "|---|---|", "|e|"]),
        (
            "Sales by region\nRegion: EMEA | Revenue: 12\nregion: apac | note: It fell. Why? | x",
            [
                "Sales by region",
                "Region: EMEA | Revenue: 12",
                "region: apac | note: It fell. Why? | x",
            ],
        ),
        ("Total | 5\nand | 6\nThe end. It is.", ["Total | 5", "and | 6", "The end.", "It is."]),
        (
            "  Note (net): 3 | Who: Dr. X. | Y: 1\r\nso it goes. Then.",
            ["Note (net): 3 | Who: Dr. X. | Y: 1", "so it goes.", "Then."],
        ),
        ("We need P(A | B). It is small.", ["We need P(A | B).", "It is small."]),
        ("Run `ls | wc`. Then look.", ["Run `ls | wc`.", "Then look."]),
        ("One. Two a | b. Three.", ["One.", "Two a | b.", "Three."]),
        ("|x| is its size. It is not below 0.", ["|x| is its size.", "It is not below 0."]),
    ],
)
def test_sentences_part_where_a_reader_parts_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_nothing_comes_of_nothing() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \n\t \u3000") == []


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        ".",
        ".x",
        " ",
        "\n",
        " \n",
        "a. ",
        ".)",
        "-",
        ".[1",
        "!。)",
        "A. b\n",
        "a",
        "|",
        " | ",
        "| ",
        "\n|",
        "\na | ",
        "a. | b: \n",
        "(`| ",
        "a    b\n",
        "a  ",
    ],
)
@pytest.mark.parametrize("size", [400_000, pytest.param(800_000, marks=pytest.mark.soak)])
def test_time_is_linear_on_hostile_text(unit: str, size: int) -> None:
    """Eight times the text takes about eight times as long; quadratic code takes sixty-four."""

    small, large = (unit * (length // len(unit)) for length in (size // 8, size))
    once = min(_timed(small) for _ in range(3))
    # no more than once, but where something else took the processor
    assert any(_timed(large) < 30 * once + 0.05 for _ in range(3))


def _timed(text: str) -> float:
    start = time.process_time()
    sentence_spans(text)
    return time.process_time() - start
