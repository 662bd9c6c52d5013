"""The task of every contender: load the texts, search dense and hybrid, tell times and hits.

A contender is a program for the environment of its library: ``python NAME.py FOLDER URL``. FOLDER
has ``texts.json``, ``vectors.npy``, ``questions.json`` and ``question_vectors.npy``; URL is of an
empty database with pgvector. One line of JSON comes out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

TOP_K = 10
WARM = 5


class Contender(Protocol):
    """A library, set up as its documentation has it, with the HNSW index and defaults it offers."""

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        """Store all; text ``i`` is found as ``str(i)``. Ends when it is indexed."""
        ...

    def dense(self, question: str, vector: list[float]) -> list[str]:
        """The TOP_K nearest by cosine, nearest first."""
        ...

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        """The TOP_K best by vector and words together."""
        ...


def main(build: Callable[[str], Contender]) -> None:
    """Measure what ``build`` gives for the URL, and print it."""
    folder, url = Path(sys.argv[1]), sys.argv[2]
    texts = json.loads((folder / "texts.json").read_text())
    questions = json.loads((folder / "questions.json").read_text())
    vectors = np.load(folder / "vectors.npy").tolist()
    asked = list(zip(questions, np.load(folder / "question_vectors.npy").tolist(), strict=True))
    contender = build(url)
    begun = time.perf_counter()
    contender.load(texts, vectors)
    measured: dict[str, Any] = {"load": time.perf_counter() - begun}
    for name, search in (("dense", contender.dense), ("hybrid", contender.hybrid)):
        for question, vector in asked[:WARM]:
            search(question, vector)
        seconds, found = [], []
        for question, vector in asked:
            begun = time.perf_counter()
            found.append(search(question, vector))
            seconds.append(time.perf_counter() - begun)
        measured[name] = {"p50": float(np.median(seconds)), "found": found}
    print(json.dumps(measured))
