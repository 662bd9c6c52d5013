"""Text to 256 numbers with WordLlama's token table, straight from its installed files.

``import wordllama`` is avoided on purpose: it calls ``logging.basicConfig(level=INFO)`` on the
root logger, imports an HTTP client, and looks for the tokenizer it ships in the wrong folder.
What it does at run time is a table look-up and a mean, and that is here with three changes, which
together measured better on every corpus tried (docs/decisions/0004-offline-provider.md): a token
met ``c`` times weighs ``c ** 0.75``, punctuation weighs nothing, and a token's learned weight,
which is its row's length, is softened.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer

from helix.errors import SettingsError

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


WIDTH = 256
IDENTITY = "offline:wordllama-l2_supercat-256"

Vectors = NDArray[np.float32]

_COUNT_POWER = 0.75
"""The power of a token's count: plain counts let a long passage's favourite word drown it."""

_LENGTH_POWER = -0.2
"""The table's rows are scaled by their length to this power: rare names weigh a little less."""

_SLAB = 1024  # tokens summed at once, or those of one text: 1 MB of rows, for processors' caches

_SHOUTED_WORDS = 3
"""From this many words on, a text without one lower-case letter is read as lower case: the table
knows few words in capitals (nDCG@10 on SciFact falls from 0.53 to 0.14 for shouted questions)."""


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """The text as it is looked up: NFKC, one space for each run of white space, not shouted.

    A lone surrogate, which no tokenizer takes, becomes U+FFFD.
    """
    if not text.isascii():
        text = _LONE_SURROGATE.sub("\ufffd", text)
    words = unicodedata.normalize("NFKC", text).split()
    plain = " ".join(words)
    return plain.lower() if len(words) >= _SHOUTED_WORDS and plain.isupper() else plain


class WordVectors:
    """The token table and its tokenizer; immutable, so any number of threads may use it."""

    def __init__(self, table: Vectors, tokenizer: Tokenizer) -> None:
        self._table = table
        self._tokens = WordTokens(tokenizer)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts: float32, shape (len(texts), 256), each of length 1.

        A text without a word (empty, white space, punctuation) gets zeros: it is near nothing,
        and its cosine distance is undefined. A text's vector does not depend on its neighbours.
        """
        return self.embed_and_weigh(texts)[0]

    def embed_and_weigh(self, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        """The vectors of embed, and the length each had before: how much the table holds the
        text to say, shape (len(texts),). Function words weigh 1 to 3, rare names 15 and more.
        """
        totals = np.zeros((len(texts), WIDTH), dtype=np.float32)
        ids = self._tokens.ids([normalise(text) for text in texts])
        for slab in _slabs(ids):
            self._add_up(ids[slab], totals[slab])
        lengths = np.linalg.norm(totals, axis=1).astype(np.float32)
        units = totals / np.maximum(lengths, np.float32(1e-9))[:, None]
        return units.astype(np.float32, copy=False), lengths

    def _add_up(self, ids: Sequence[TokenIds], totals: Vectors) -> None:
        """Write the weighted sum of each text's tokens into its row of ``totals``.

        All texts at once: (row, token) pairs are made one number, counted, and summed by row.
        """
        size, lengths = len(self._table), list(map(len, ids))
        pairs = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=sum(lengths))
        if not len(pairs):
            return
        pairs += np.repeat(np.arange(0, size * len(ids), size), lengths)
        pairs.sort()
        first = _changes(pairs)
        rows, tokens = np.divmod(pairs[first[:-1]], size)
        counts = (first[1:] - first[:-1]).astype(np.float32)
        weighted = self._table[tokens] * (counts**_COUNT_POWER)[:, None]
        starts = _changes(rows)[:-1]
        totals[rows[starts]] = np.add.reduceat(weighted, starts, axis=0)


def _changes(numbers: NDArray[np.int64]) -> NDArray[np.intp]:
    """The places from which ``numbers``, at least one, are others than before, and their end."""
    return np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1], [True])))


def _slabs(ids: Sequence[TokenIds]) -> Iterator[slice]:
    """Texts one after another that have about _SLAB tokens together, one at least."""
    first = tokens = 0
    for place, each in enumerate(ids):
        if tokens + len(each) > _SLAB and place > first:
            yield slice(first, place)
            first, tokens = place, 0
        tokens += len(each)
    if ids:
        yield slice(first, len(ids))


_lock = threading.Lock()
_loaded: WordVectors | None = None


def is_loaded() -> bool:
    """True if the next call of word_vectors returns at once."""
    return _loaded is not None


def word_vectors() -> WordVectors:
    """The vectors, read from disk on the first call of the process (about a quarter second).

    Raises:
        SettingsError: the wordllama package or one of its two files is missing.
    """
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _read()
    return _loaded


def _read() -> WordVectors:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise SettingsError("the offline provider needs wordllama: install it again with Helix")
    package = Path(spec.submodule_search_locations[0])
    weights = package / "weights" / "l2_supercat_256.safetensors"
    tokens = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
    for file in (weights, tokens):
        if not file.is_file():
            raise SettingsError(
                f"the installed wordllama lacks {file.name}: install wordllama 0.4.0.post1"
            )
    tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(str(weights), framework="np") as file:
        table = np.ascontiguousarray(file.get_tensor("embedding.weight"), dtype=np.float32)
    return WordVectors(_weighed(table, tokenizer), tokenizer)


def _weighed(table: Vectors, tokenizer: Tokenizer) -> Vectors:
    lengths = np.maximum(np.linalg.norm(table, axis=1), 1e-3)
    weights = lengths**_LENGTH_POWER
    for token, index in tokenizer.get_vocab().items():
        is_byte = token.startswith("<0x")
        if not is_byte and all(unicodedata.category(character)[0] in "PSZ" for character in token):
            weights[index] = 0
    return np.ascontiguousarray(table * weights[:, None], dtype=np.float32)
