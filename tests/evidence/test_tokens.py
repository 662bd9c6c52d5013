"""Tokens word by word: the same as the tokenizer's own of the whole text."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from helix.evidence import vectors
from helix.evidence.vectors import WordTokens, normalise, word_vectors

ALPHABET = st.sampled_from(
    ["▁", "<s>", "</s>", "<unk>", " ", " ", "a", "Zoë", "é", "日本", "😀", "<", ".7"]
)


@cache
def tokenizer() -> Tokenizer:
    return word_vectors()._tokens._tokenizer


@cache
def reader() -> WordTokens:
    """One for all examples: a new one looks through the whole vocabulary, for 30 ms."""
    return WordTokens(tokenizer())


def whole(text: str) -> list[int]:
    return list(tokenizer().encode(text, add_special_tokens=False).ids)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.lists(ALPHABET, max_size=12).map("".join))
@example("")
@example("▁ ▁▁x▁ y")
@example("x <s> y</s>z")
@example("word " * 3000)
def test_the_tokens_of_words_are_those_of_the_text(text: str) -> None:
    text = normalise(text)
    assert [list(each) for each in reader().ids([text, "a b", text])] == [
        whole(text), whole("a b"), whole(text)
    ]  # fmt: skip


def test_words_beyond_what_is_kept_have_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MOST_KEPT", 5)
    reader = WordTokens(tokenizer())
    texts = ["one two three", "four two five", "x" * 50 + " three", "one two three four five six"]
    for _ in range(2):
        for text in texts:
            assert list(reader.ids([text])[0]) == whole(text)
    assert not any(len(word) == 50 for word in reader._kept)
    assert len(reader._kept) <= 7


def test_a_word_is_read_once() -> None:
    read: list[str] = []

    class Counted:
        def encode_batch_fast(self, texts: list[str], **options: bool) -> object:
            read.extend(texts)
            return tokenizer().encode_batch_fast(texts, **options)

    reader = WordTokens(tokenizer())
    reader._tokenizer = Counted()  # type: ignore[assignment]
    reader.ids(["grain keeps long", "grain keeps"])
    reader.ids(["long grain"])
    assert sorted(" ".join(read).split()) == ["grain", "keeps", "long"]
