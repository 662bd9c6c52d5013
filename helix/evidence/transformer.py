"""The transformer of evidence: MiniLM's six layers (12 heads, 384 numbers a token).

Adapters (Hu et al., LoRA, 2021) add the product of two narrow matrices to the weights of a layer,
and have its biases and norms of their own: one file of weights serves several tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numkong
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from helix.evidence.words import Floats

_LARGEST = 127  # -128 is left out: both signs reach as far

Integers = NDArray[np.int8]
HEADS = 12
_UNKNOWN = "[UNK]"
_BLOCK = 96  # tokens of a feed-forward net at once: its numbers stay in the processor's cache
_TINY = 1e-12  # under the roots of normalisations, as BERT has it, and the scale of zeros

Ids = Sequence[int]
Arrays = Mapping[str, NDArray[Any]]


class Dense:
    """A layer ``rows @ weights + bias``; any number of threads may use it."""

    def __init__(self, weights: Integers, scales: Floats, bias: Floats) -> None:
        """``weights`` of shape (inputs, outputs), times ``scales`` (outputs,)."""
        self._weights = numkong.dots_pack(np.ascontiguousarray(weights.T))
        self._scales, self._bias = scales / np.float32(_LARGEST), bias

    def __call__(self, rows: Floats) -> Floats:
        """The outputs of ``rows``: shape (..., inputs) to (..., outputs)."""
        flat = rows.reshape(-1, rows.shape[-1])
        largest = np.maximum(flat.max(axis=1), -flat.min(axis=1))[:, None] + np.float32(_TINY)
        integers = np.rint(flat * (_LARGEST / largest)).astype(np.int8)
        made = np.asarray(numkong.dots_packed(integers, self._weights)).astype(np.float32)
        made *= largest
        made *= self._scales
        made += self._bias
        return made.reshape(*rows.shape[:-1], -1)


def quantize(weights: Floats) -> tuple[Integers, Floats]:
    """Weights of shape (inputs, outputs) as integers, and the scale of each output (outputs,)."""
    scales = np.maximum(np.abs(weights).max(axis=0), _TINY) / np.float32(_LARGEST)
    return np.rint(weights / scales).astype(np.int8), scales.astype(np.float32)


class Pair(NamedTuple):
    """Two texts that are read together: ``ids``, of which the second begins at ``start``."""

    ids: Sequence[int]
    start: int


class _Scale(NamedTuple):
    scale: Floats
    shift: Floats

    def __call__(self, rows: Floats) -> Floats:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + _TINY)
        return np.asarray(centred / spread * self.scale + self.shift, dtype=np.float32)


@dataclass(frozen=True)
class _Layer:
    """One layer of a transformer: attention and a feed-forward net, each added and normalised."""

    attended: Dense
    joined: Dense
    after_attention: _Scale
    widened: Dense
    narrowed: Dense
    after: _Scale

    def __call__(self, rows: Floats, texts: Sequence[slice], wanted: Sequence[slice]) -> Floats:
        """The output for the ``wanted`` rows of each text, which attend to all rows of theirs."""
        parts = self.attended(rows)
        attention = np.concatenate(
            [_attention(parts[own], parts[text]) for own, text in zip(wanted, texts, strict=True)]
        )
        rows = np.concatenate([rows[own] for own in wanted])
        blocks = [slice(first, first + _BLOCK) for first in range(0, len(rows), _BLOCK)]
        return np.concatenate(
            [self._feed_forward(rows[block], attention[block]) for block in blocks]
        )

    def _feed_forward(self, rows: Floats, attention: Floats) -> Floats:
        rows = self.after_attention(rows + self.joined(attention))
        return self.after(rows + self.narrowed(_gelu(self.widened(rows))))


def _attention(own: Floats, parts: Floats) -> Floats:
    """The values of ``parts``, shape (tokens, 3 x 384), as the tokens of ``own`` attend to them."""
    asks = own[:, : own.shape[1] // 3].reshape(len(own), HEADS, -1).transpose(1, 0, 2)
    keys, values = parts.reshape(len(parts), 3, HEADS, -1).transpose(1, 2, 0, 3)[1:]
    weights = (asks / np.float32(asks.shape[-1] ** 0.5)) @ keys.transpose(0, 2, 1)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    attended = (weights @ values) / weights.sum(axis=-1, keepdims=True)
    return np.asarray(attended.transpose(1, 0, 2).reshape(len(own), -1))


def _gelu(rows: Floats) -> Floats:
    """The Gaussian error linear unit by its approximation with tanh (Hendrycks and Gimpel)."""
    inner = rows * rows
    inner *= np.float32(0.044715)
    inner += 1
    inner *= rows
    inner *= np.float32((2 / np.pi) ** 0.5)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner


class Transformer:
    """The layers with a tokenizer; any number of threads may use it."""

    def __init__(self, arrays: Arrays, adapters: Arrays | None = None) -> None:
        own = adapters or {}
        self._words, self._word_scales = arrays["words"], arrays["words_scale"]
        self._places = arrays["places"].astype(np.float32)
        self._types = own.get("types", arrays["types"]).astype(np.float32)
        self._first = _scale(arrays, own, "first")
        self._layers = [_layer(arrays, own, f"layer{n}") for n in range(int(arrays["layers"]))]
        self.tokenizer = _tokenizer(arrays["vocabulary"].tobytes().decode())
        vocabulary = self.tokenizer.get_vocab()
        self.start, self.end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text; a lone surrogate is read as a question mark."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [one.ids for one in self.tokenizer.encode_batch(clean, add_special_tokens=False)]

    def rows(self, pairs: Sequence[Pair], wanted: Sequence[slice]) -> list[Floats]:
        """Output of the last layer for the ``wanted`` tokens of each: shape (tokens, 384) each.

        Some 20 ms of a processor for a pair of 170 tokens. The last layer is a sixth of that, and
        is computed for the wanted ones alone. The tokens of all pairs stand one after another, so
        that none is computed for a shorter pair's padding.
        """
        ends = np.cumsum([len(one.ids) for one in pairs]).tolist()
        texts = [slice(*span) for span in zip([0, *ends], ends, strict=False)]
        ids = np.concatenate([np.array(one.ids, dtype=np.intp) for one in pairs])
        places = np.concatenate([np.arange(len(one.ids)) for one in pairs])
        types = places >= np.repeat([one.start for one in pairs], [len(one.ids) for one in pairs])
        rows = self._words[ids].astype(np.float32) * self._word_scales[ids][:, None]
        rows = self._first(rows + self._types[types.astype(np.intp)] + self._places[places])
        for layer in self._layers[:-1]:
            rows = layer(rows, texts, texts)
        own = [
            slice(*(text.start + place for place in part.indices(text.stop - text.start)[:2]))
            for text, part in zip(texts, wanted, strict=True)
        ]
        ends = np.cumsum([part.stop - part.start for part in own]).tolist()
        return np.split(self._layers[-1](rows, texts, own), ends[:-1])


def pooled(rows: Floats) -> Floats:
    """Mean and maximum of the rows of some tokens, one after another."""
    return np.concatenate([rows.mean(axis=0), rows.max(axis=0)])


def _tokenizer(vocabulary: str) -> Tokenizer:
    """BERT's tokenizer of lower-case letters without accents."""
    places = {token: place for place, token in enumerate(vocabulary.split("\n"))}
    made = Tokenizer(models.WordPiece(places, unk_token=_UNKNOWN))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def _layer(arrays: Arrays, own: Arrays, name: str) -> _Layer:
    return _Layer(
        _dense(arrays, own, f"{name}_attended"), _dense(arrays, own, f"{name}_joined"),
        _scale(arrays, own, f"{name}_after_attention"), _dense(arrays, own, f"{name}_widened"),
        _dense(arrays, own, f"{name}_narrowed"), _scale(arrays, own, f"{name}_after"),
    )  # fmt: skip


def _dense(arrays: Arrays, own: Arrays, name: str) -> Dense:
    weights, scales = arrays[name], arrays[f"{name}_scale"].astype(np.float32)
    bias = own.get(f"{name}_bias", arrays[f"{name}_bias"]).astype(np.float32)
    if f"{name}_down" not in own:
        return Dense(weights, scales, bias)
    up, down = (own[f"{name}_{part}"].astype(np.float32) for part in ("up", "down"))
    return Dense(*quantize(weights * scales + (up @ down).T), bias)


def _scale(arrays: Arrays, own: Arrays, name: str) -> _Scale:
    scale, shift = own.get(f"{name}_norm", arrays[f"{name}_norm"]).astype(np.float32)
    return _Scale(scale, shift)
