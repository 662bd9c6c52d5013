"""The encoder's weights as helix.evidence.encoder reads them: 8-bit integers with scales."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.evidence.transformer import quantize
from helix.evidence.words import Floats

_ATTENTION = ("query", "key", "value")
_EMBEDDINGS = "bert.embeddings"
_OUTPUTS = (
    ("joined", "attention.output.dense"), ("widened", "intermediate.dense"),
    ("narrowed", "output.dense"),
)  # fmt: skip
_NORMS = (("after_attention", "attention.output.LayerNorm"), ("after", "output.LayerNorm"))


def write_weights(state: Mapping[str, Floats], vocabulary: str, file: Path) -> None:
    """Write the weights of a trained reader, by their names in torch, and its vocabulary."""
    places, tokens = "position_embeddings", vocabulary.rstrip("\n").encode()
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary": np.frombuffer(tokens, dtype=np.uint8),
        "places": state[f"{_EMBEDDINGS}.{places}.weight"].astype(np.float16),
        "types": state[f"{_EMBEDDINGS}.token_type_embeddings.weight"],
        "unit": state["unit.weight"][0], "unit_bias": state["unit.bias"][0],
        **_norm("first", state, f"{_EMBEDDINGS}.LayerNorm"),
    }  # fmt: skip
    words, arrays["words_scale"] = quantize(state[f"{_EMBEDDINGS}.word_embeddings.weight"].T)
    arrays["words"] = np.ascontiguousarray(words.T)
    layers = 1 + max(int(name.split(".")[3]) for name in state if ".encoder.layer." in name)
    arrays["layers"] = np.array(layers)
    for number in range(layers):
        arrays |= _layer(f"layer{number}", state, f"bert.encoder.layer.{number}")
    np.savez_compressed(file, allow_pickle=False, **arrays)


def _layer(name: str, state: Mapping[str, Floats], of: str) -> dict[str, NDArray[Any]]:
    own = f"{of}.attention.self"
    arrays = _dense(
        f"{name}_attended",
        np.concatenate([state[f"{own}.{part}.weight"] for part in _ATTENTION]),
        np.concatenate([state[f"{own}.{part}.bias"] for part in _ATTENTION]),
    )
    for part, dense in _OUTPUTS:
        weights, bias = state[f"{of}.{dense}.weight"], state[f"{of}.{dense}.bias"]
        arrays |= _dense(f"{name}_{part}", weights, bias)
    for part, norm in _NORMS:
        arrays |= _norm(f"{name}_{part}", state, f"{of}.{norm}")
    return arrays


def _dense(name: str, weights: Floats, bias: Floats) -> dict[str, NDArray[Any]]:
    whole, scale = quantize(weights.T)
    return {name: whole, f"{name}_scale": scale, f"{name}_bias": bias}


def _norm(name: str, state: Mapping[str, Floats], of: str) -> dict[str, NDArray[Any]]:
    return {f"{name}_norm": np.stack([state[f"{of}.weight"], state[f"{of}.bias"]])}


def read_weights(file: Path) -> dict[str, Floats]:
    """The weights of ``file`` by their names in torch; the head for words is not kept."""
    with np.load(file, allow_pickle=False) as read:
        arrays = dict(read)
    state = {
        f"{_EMBEDDINGS}.word_embeddings.weight": arrays["words"] * arrays["words_scale"][:, None],
        f"{_EMBEDDINGS}.position_embeddings.weight": arrays["places"].astype(np.float32),
        f"{_EMBEDDINGS}.token_type_embeddings.weight": arrays["types"],
        "unit.weight": arrays["unit"][None], "unit.bias": np.atleast_1d(arrays["unit_bias"]),
        **_read_norm(f"{_EMBEDDINGS}.LayerNorm", arrays["first_norm"]),
    }  # fmt: skip
    for number in range(int(arrays["layers"])):
        name, of = f"layer{number}", f"bert.encoder.layer.{number}"
        thirds = [np.split(one, 3) for one in _read_dense(arrays, f"{name}_attended")]
        dense = {f"attention.self.{part}": (thirds[0][n], thirds[1][n])
                 for n, part in enumerate(_ATTENTION)}  # fmt: skip
        dense |= {part: _read_dense(arrays, f"{name}_{own}") for own, part in _OUTPUTS}
        for part, (weights, bias) in dense.items():
            state |= {f"{of}.{part}.weight": weights, f"{of}.{part}.bias": bias}
        for part, norm in _NORMS:
            state |= _read_norm(f"{of}.{norm}", arrays[f"{name}_{part}_norm"])
    return state


def _read_dense(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[Floats, Floats]:
    return np.ascontiguousarray((arrays[name] * arrays[f"{name}_scale"]).T), arrays[f"{name}_bias"]


def _read_norm(name: str, pair: Floats) -> dict[str, Floats]:
    return {f"{name}.weight": pair[0], f"{name}.bias": pair[1]}
