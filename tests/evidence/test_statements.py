"""The reader of statements: which sentences it reads, and what it makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from helix.evidence.statements import (
    MOST_READ,
    WEIGHTS,
    Signs,
    StatementReader,
    closest,
    statement_reader,
)

KETTLE = "A kettle that was opened may be sent back within 14 days."
LID = "The lid of the kettle is made of steel in Linz."
STAFF = "The shop in Graz has five people."


@pytest.fixture(scope="module")
def reader() -> StatementReader:
    return statement_reader()


def doubt(reader: StatementReader, statement: str, *read: str) -> float:
    said, *sentences = reader.tokens([statement, *read])
    return reader.doubt(said, [], sentences).whole


def test_the_sentences_with_the_statements_words_are_closest_best_first(
    reader: StatementReader,
) -> None:
    said, *read = reader.tokens(["The kettle's lid is of steel.", STAFF, KETTLE, LID])
    assert closest(said, read)[0] == 2


def test_no_more_is_read_than_there_is_room_for(reader: StatementReader) -> None:
    said, *read = reader.tokens([KETTLE, *[f"{KETTLE} {LID}"] * 30])
    chosen = closest(said, read)
    assert sum(len(read[at]) for at in chosen[:-1]) < MOST_READ


def test_nothing_is_closest_where_no_word_is_shared(reader: StatementReader) -> None:
    said, *read = reader.tokens(["xylophone", STAFF, ""])
    assert closest(said, read) == []
    assert np.isfinite(reader.doubt(said, [], [])).all()


@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        ("You can return an opened kettle for 14 days.", "You can return an opened kettle never."),
        ("The lid is steel, made in Linz.", "The lid is plastic, made in Linz."),
    ],
)
def test_what_is_said_in_other_words_is_less_in_doubt_than_what_is_not_said(
    reader: StatementReader, holds: str, fails: str
) -> None:
    assert doubt(reader, holds, KETTLE, LID) < doubt(reader, fails, KETTLE, LID)


_NEARER = ((False, False), (True, False), (True, True))


def test_the_more_of_its_words_one_sentence_has_the_likelier_a_statement_is(
    reader: StatementReader,
) -> None:
    signs = [Signs(0.0, 0.0, 0.9, near, copy) for near, copy in _NEARER]
    likely = [reader.probability(one) for one in signs]
    assert likely == sorted(likely)


def test_no_doubt_of_the_encoder_outweighs_that_one_sentence_has_all_words(
    reader: StatementReader,
) -> None:
    """So such a statement is not read: helix.answering.proof.reading."""
    assert reader.probability(Signs(5.0, 0.0, 1.0, True, True)) >= reader.bar


@pytest.mark.parametrize("text", ["a" * 50_000, "蒸" * 5_000, "1, " * 20_000, "\ud800 \x00"])
def test_texts_of_any_filling_are_read(reader: StatementReader, text: str) -> None:
    said, read = reader.tokens([text, text])
    assert np.isfinite(reader.doubt(said, said, [read])).all()


def test_the_weights_of_both_readers_have_at_most_25_megabytes() -> None:
    sizes = [one.stat().st_size for one in WEIGHTS.parent.glob("*.npz")]
    assert sum(sizes) < 25_000_000
