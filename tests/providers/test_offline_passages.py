"""Texts as the answerer keeps them: read once, the same as when read anew."""

from __future__ import annotations

import numpy as np
import pytest

from helix.providers.offline import passages
from helix.providers.offline.passages import read_passage
from helix.providers.offline.vectors import word_vectors

TEXT = "# Storage\nGrain keeps for two years. We expect to build a silo.\n\n| a | b |\n|---|---|\n"


def test_a_text_is_read_once() -> None:
    assert read_passage(TEXT) is read_passage(TEXT)
    assert [piece.is_heading for piece in read_passage(TEXT).pieces] == [True, False, False, True]


def test_a_piece_is_near_its_own_word_alone() -> None:
    similar = read_passage(TEXT).similarity(word_vectors().embed(["grain", "silo"]))
    assert similar.argmax(axis=0).tolist() == [1, 2]
    assert similar.max(axis=0) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_words_beyond_what_is_kept_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = word_vectors().embed(["grain", "harvest"])
    expected = read_passage(TEXT).similarity(terms)
    monkeypatch.setattr(passages, "MOST_WORDS_KEPT", 12)
    monkeypatch.setattr(passages, "_lexicon", passages._Lexicon())
    passages._kept.clear()
    try:
        for text in (TEXT, "Barley and oats grow slowly in wet and windy places.", TEXT):
            read_passage(text)
        assert np.allclose(read_passage(TEXT).similarity(terms), expected, atol=1e-5)
    finally:
        passages._kept.clear()


def test_a_text_without_words_has_no_pieces() -> None:
    assert read_passage(" \n ").pieces == ()
