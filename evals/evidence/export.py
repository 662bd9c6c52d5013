"""The encoder's weights as helix.evidence.encoder reads them: 8-bit integers with scales."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.evidence.dense import quantize
from helix.evidence.words import Floats

_ATTENTION = ("query", "key", "value")


def write_weights(state: Mapping[str, Floats], vocabulary: str, file: Path) -> None:
    """Write the weights of a trained reader, by their names in torch, and its vocabulary."""
    places, tokens = "position_embeddings", vocabulary.rstrip("\n").encode()
    embeddings = "bert.embeddings"
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary": np.frombuffer(tokens, dtype=np.uint8),
        "places": state[f"{embeddings}.{places}.weight"].astype(np.float16),
        "types": state[f"{embeddings}.token_type_embeddings.weight"],
        "unit": state["unit.weight"][0], "unit_bias": state["unit.bias"][0],
        **_norm("first", state, f"{embeddings}.LayerNorm"),
    }  # fmt: skip
    words, arrays["words_scale"] = quantize(state[f"{embeddings}.word_embeddings.weight"].T)
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
    for part, dense in (
        ("joined", "attention.output.dense"), ("widened", "intermediate.dense"),
        ("narrowed", "output.dense"),
    ):  # fmt: skip
        weights, bias = state[f"{of}.{dense}.weight"], state[f"{of}.{dense}.bias"]
        arrays |= _dense(f"{name}_{part}", weights, bias)
    arrays |= _norm(f"{name}_after_attention", state, f"{of}.attention.output.LayerNorm")
    return arrays | _norm(f"{name}_after", state, f"{of}.output.LayerNorm")


def _dense(name: str, weights: Floats, bias: Floats) -> dict[str, NDArray[Any]]:
    whole, scale = quantize(weights.T)
    return {name: whole, f"{name}_scale": scale, f"{name}_bias": bias}


def _norm(name: str, state: Mapping[str, Floats], of: str) -> dict[str, NDArray[Any]]:
    return {f"{name}_norm": np.stack([state[f"{of}.weight"], state[f"{of}.bias"]])}
