"""The tokens of texts, word by word: a word that was met before is looked up, not taken apart.

WordLlama's tokenizer knows no words: it merges pairs of characters over the whole text, 0.3 ms a
chunk. But a space is the first character of a token, never one further on. So the tokens of a text
are those of its words, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter

from tokenizers import Tokenizer

MOST_KEPT = 2**16
"""Words whose tokens are kept, some 250 bytes each; at the next one all are read anew."""
_LONGEST_KEPT = 40  # characters of a word
_SPACE = "▁"
"""The tokenizer's sign for a space. A text may have the character too, and runs of it merge."""

TokenIds = Sequence[int]


class WordTokens:
    """A tokenizer that reads each word once. Any number of threads may use it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._kept: dict[str, TokenIds] = {"": ()}
        vocabulary = tokenizer.get_vocab(with_added_tokens=False)
        self._first = frozenset(i for token, i in vocabulary.items() if token.startswith(_SPACE))
        self._by_words = not any(
            token.strip(_SPACE) and _SPACE in token[1:] for token in vocabulary
        )
        added = tokenizer.get_added_tokens_decoder().values()
        self._signs = (_SPACE, *(token.content for token in added))

    def ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """The token ids of each text, in order.

        The words of a text must have one space between them, and none around them.
        """
        words = [text.split(" ") if self._has_words(text) else None for text in texts]
        kept = self._with_all(frozenset(chain.from_iterable(filter(None, words))))
        return [
            self._read(text) if own is None else _joined(kept, own)
            for text, own in zip(texts, words, strict=True)
        ]

    def _has_words(self, text: str) -> bool:
        """True if a text may be split at its spaces: it has no sign of the tokenizer."""
        return self._by_words and not any(sign in text for sign in self._signs)

    def _with_all(self, words: frozenset[str]) -> dict[str, TokenIds]:
        """The tokens of ``words`` at least; another thread may put further ones in."""
        kept = self._kept
        new = [word for word in words if word not in kept]
        if not new:
            return kept
        if len(kept) + len(new) > MOST_KEPT:
            kept, new = {"": ()}, [word for word in words if word]
            self._kept = kept
        read = dict(zip(new, self._read_words(new), strict=True))
        kept.update((word, ids) for word, ids in read.items() if len(word) <= _LONGEST_KEPT)
        return {**kept, **read} if max(map(len, new)) > _LONGEST_KEPT else kept

    def _read_words(self, words: Sequence[str]) -> Iterator[TokenIds]:
        """The tokens of each word, all read as one text: one by one they take twice as long."""
        ids = self._read(" ".join(words))
        starts = [place for place, token in enumerate(ids) if token in self._first]
        for start, end in pairwise([*starts, len(ids)]):
            yield ids[start:end]

    def _read(self, text: str) -> TokenIds:
        return tuple(self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids)


def _joined(kept: dict[str, TokenIds], words: Sequence[str]) -> TokenIds:
    if len(words) == 1:
        return kept[words[0]]
    return list(chain.from_iterable(itemgetter(*words)(kept)))
