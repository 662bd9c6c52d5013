"""Quantized layers against the same products by numpy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helix.evidence.transformer import Dense, quantize
from helix.evidence.words import Floats

INPUTS, OUTPUTS = 1536, 384


def numbers(*shape: int, spread: float = 1.0) -> Floats:
    return np.random.default_rng(5).normal(0, spread, shape).astype(np.float32)


def test_quantized_weights_are_within_half_a_step_of_the_weights() -> None:
    weights = numbers(40, 7, spread=0.1)
    integers, scales = quantize(weights)
    assert integers.dtype == np.int8 and integers.min() >= -127
    assert np.abs(integers * scales - weights) == pytest.approx(0, abs=float(scales.max()) / 2)


def test_a_column_of_zeros_stays_one() -> None:
    integers, scales = quantize(np.zeros((3, 2), dtype=np.float32))
    assert not integers.any() and np.isfinite(scales).all()


def test_outputs_are_those_of_the_integers_exactly() -> None:
    integers, _ = quantize(numbers(INPUTS, OUTPUTS))
    layer = Dense(integers, np.full(OUTPUTS, 127, np.float32), np.zeros(OUTPUTS, np.float32))
    rows = np.random.default_rng(6).integers(-127, 128, (9, INPUTS)).astype(np.float32)
    rows[:, 0] = 127  # the largest of each row: its scale is 1
    wanted = (rows.astype(np.int64) @ integers.astype(np.int64)) * 127
    assert np.allclose(layer(rows), wanted, rtol=1e-6)


def test_a_layer_is_near_that_of_32_bit_numbers() -> None:
    weights, bias = numbers(INPUTS, OUTPUTS, spread=0.1), numbers(OUTPUTS)
    rows = numbers(2, 5, INPUTS) * np.array([[[1.0]], [[1000.0]]], dtype=np.float32)
    layer = Dense(*quantize(weights), bias)
    exact = rows @ weights + bias
    for made, wanted in zip(layer(rows), exact, strict=True):
        assert np.abs(made - wanted).max() < 0.02 * np.abs(wanted).max()
    assert layer(rows).shape == (2, 5, OUTPUTS)


def test_rows_of_zeros_give_the_bias() -> None:
    bias = numbers(OUTPUTS)
    layer = Dense(*quantize(numbers(INPUTS, OUTPUTS)), bias)
    assert (layer(np.zeros((3, INPUTS), dtype=np.float32)) == bias).all()


def test_threads_read_the_same() -> None:
    layer = Dense(*quantize(numbers(INPUTS, OUTPUTS)), numbers(OUTPUTS))
    rows = numbers(170, INPUTS)
    alone = layer(rows)
    with ThreadPoolExecutor(4) as threads:
        assert all((made == alone).all() for made in threads.map(layer, [rows] * 40))
