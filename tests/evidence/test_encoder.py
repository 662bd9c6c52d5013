"""The encoder of evidence: its tokens, what padding changes, what is read, its weights."""

from __future__ import annotations

import numpy as np
import pytest

from helix.evidence.encoder import (
    MOST_STRETCHES,
    MOST_TOKENS,
    WEIGHTS,
    Encoder,
    Stretch,
    evidence_encoder,
    read_log_odds,
)
from helix.evidence.model import Joint
from helix.language.sentences import Passage, units_of

QUESTION = "How long may an opened kettle be sent back?"
RIGHT = "A kettle that was opened may be sent back within 14 days."
WRONG = "The lid of the kettle is made of steel in Linz."


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return evidence_encoder()


def said(encoder: Encoder, question: str, *texts: str) -> list[float]:
    asked, *units = encoder.tokens([question, *texts])
    return [float(one[0]) for one in encoder.log_odds(asked, [Stretch([], [u]) for u in units])]


def test_tokens_are_those_of_bert(encoder: Encoder) -> None:
    assert encoder.tokens(["Hello, WORLD! Café"]) == [[7592, 1010, 2088, 999, 7668]]


def test_what_answers_is_above_what_does_not(encoder: Encoder) -> None:
    right, wrong = said(encoder, QUESTION, RIGHT, WRONG)
    assert right > 0 > wrong


def test_what_is_read_beside_a_stretch_does_not_change_it(encoder: Encoder) -> None:
    alone = said(encoder, QUESTION, WRONG)
    beside = said(encoder, QUESTION, WRONG, RIGHT * 5)
    # a sum's last bit may round an input to the next integer; read padding moves it by 0.9 and more
    assert beside[0] == pytest.approx(alone[0], abs=0.05)


def test_units_of_a_stretch_have_each_their_own(encoder: Encoder) -> None:
    asked, *units = encoder.tokens([QUESTION, WRONG, RIGHT])
    (together,) = encoder.log_odds(asked, [Stretch([], units)])
    assert together.shape == (2,)
    assert together[1] > together[0]


@pytest.mark.parametrize("text", ["a" * 50_000, "蒸" * 5_000, "1, " * 20_000, "\ud800 \x00"])
def test_texts_of_any_filling_are_read(encoder: Encoder, text: str) -> None:
    passages = [Passage(text, text[:200]), Passage(RIGHT)]
    units = units_of(passages)
    read = read_log_odds(encoder, text[:3_000], passages, units, np.zeros(len(units), np.float32))
    assert np.isfinite(read[~np.isnan(read)]).all()


def test_only_the_stretches_around_likely_units_are_read(encoder: Encoder) -> None:
    passages = [Passage(f"{RIGHT} {WRONG} " * 12) for _ in range(9)]
    units = units_of(passages)
    likely = np.array([-unit.passage - unit.place / 100 for unit in units], dtype=np.float32)
    read = ~np.isnan(read_log_odds(encoder, QUESTION, passages, units, likely))
    tokens = sum(map(len, encoder.tokens([units[at].text for at in np.flatnonzero(read)])))
    assert read[0] and not read[-1]
    assert tokens <= MOST_STRETCHES * MOST_TOKENS


def test_a_unit_that_was_not_read_is_no_likelier_than_one_that_was() -> None:
    trees = np.array([3.0, -1.0, 0.5], dtype=np.float32)
    encoder = np.array([np.nan, -4.0, 2.0], dtype=np.float32)
    unread, low, high = Joint(0.6, 0.3, 0.1, 0.0).probabilities(trees, encoder)
    assert unread <= low < high


def test_without_a_unit_that_was_read_the_trees_say_it_alone() -> None:
    said = Joint(0.6, 0.3, 0.1, 0.0).probabilities(
        np.array([0.0], dtype=np.float32), np.array([np.nan], dtype=np.float32)
    )
    assert said == pytest.approx([0.5])


def test_weights_are_at_most_25_megabytes() -> None:
    assert WEIGHTS.stat().st_size < 25_000_000
