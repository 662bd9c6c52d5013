"""``python -m benchmarks.peers --python PYTHON``: Helix and its peers over SciFact, in one run.

Each contender loads the same texts and vectors (MiniLM's, padded to 1,536) into an empty database
of one Postgres, with the HNSW index that it makes, and is asked the same questions one by one, each
in a process of its own. PYTHON is the interpreter of the environment of requirements.txt; without
it only Helix is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpus import ABSTRACTS, load, scifact_file
from benchmarks.database import server
from benchmarks.harness import DATA, MissingData, Report, ms

PROGRAMS = Path(__file__).parent / "programs"
TOP_K = 10
HELIX = "helix_store"
PEERS = {
    "llama_index_stock": "llama-index-vector-stores-postgres",
    "langchain_store": "langchain-postgres",
    "haystack_store": "pgvector-haystack",
    "lancedb_table": "lancedb",
}
"""By file, the package whose version is told."""


@dataclass(frozen=True)
class Questions:
    """Of SciFact's claims those with evidence among the first ``rows`` abstracts."""

    texts: list[str]
    vectors: np.ndarray[Any, np.dtype[np.float32]]
    right: list[frozenset[str]]


def questions(data: Path, rows: int, vectors: np.ndarray[Any, np.dtype[np.float32]]) -> Questions:
    """The claims with their vectors, which come in the order of ``query_ids``."""
    with scifact_file(data, "corpus.jsonl").open(encoding="utf-8") as lines:
        place = {json.loads(line)["_id"]: str(row) for row, line in enumerate(lines) if row < rows}
    with scifact_file(data, "queries.jsonl").open(encoding="utf-8") as lines:
        texts = {row["_id"]: row["text"] for row in map(json.loads, lines)}
    right: dict[str, set[str]] = {}
    for line in scifact_file(data, "qrels/test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0 and document in place:
            right.setdefault(query, set()).add(place[document])
    with np.load(scifact_file(data, "minilm.npz")) as stored:
        order = [str(query) for query in stored["query_ids"]]
    kept = [number for number, query in enumerate(order) if query in right]
    return Questions(
        [texts[order[number]] for number in kept],
        vectors[kept],
        [frozenset(right[order[number]]) for number in kept],
    )


def ndcg(found: Sequence[str], right: frozenset[str]) -> float:
    """nDCG@10 with judgements of 0 and 1, as BEIR has it."""
    gains = [1 / math.log2(n + 2) for n, each in enumerate(found[:TOP_K]) if each in right]
    return sum(gains) / sum(1 / math.log2(n + 2) for n in range(min(len(right), TOP_K)))


def measured(python: str, name: str, folder: Path, url: str) -> dict[str, Any]:
    """The report of the contender ``name`` on itself; raises RuntimeError where it fails."""
    command = [python, str(PROGRAMS / f"{name}.py"), str(folder), url]
    environment = dict(os.environ)
    if name == HELIX:
        environment["PYTHONPATH"] = str(PROGRAMS.parents[2])
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    """Measure Helix first and then each peer; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="interpreter of the peers' environment")
    parser.add_argument("--rows", type=int, default=ABSTRACTS, help="abstracts, 100 to 5,183")
    parser.add_argument("--data", type=Path, default=DATA, help="holds scifact/")
    given = parser.parse_args()
    if not 100 <= given.rows <= ABSTRACTS:
        parser.error("--rows must be 100 to 5,183")
    try:
        corpus = load(given.data, given.rows)
        asked = questions(given.data, given.rows, corpus.queries)
    except MissingData as error:
        sys.exit(f"benchmarks.peers: {error}")
    contenders = [(HELIX, sys.executable)]
    contenders += [(name, given.python) for name in PEERS] if given.python else []
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as room, server() as postgres:
        folder = Path(room)
        (folder / "texts.json").write_text(json.dumps(corpus.texts))
        (folder / "questions.json").write_text(json.dumps(asked.texts))
        np.save(folder / "vectors.npy", corpus.vectors)
        np.save(folder / "question_vectors.npy", asked.vectors)
        for name, python in contenders:
            with postgres.database() as url:
                results[name] = measured(python, name, folder, url)
    _print(results, asked, given.python)


def _print(results: dict[str, dict[str, Any]], asked: Questions, python: str | None) -> None:
    """Each contender's figures, and in brackets how many times Helix's they are."""
    helix = results[HELIX]

    def beside(value: float, own: float) -> str:
        return f"({value / own:.2f})"

    rows = []
    for name, told in results.items():
        row = [_named(name, python), f"{told['load']:.1f} {beside(told['load'], helix['load'])}"]
        for search in ("dense", "hybrid"):
            mean = np.mean([
                ndcg(found, right)
                for found, right in zip(told[search]["found"], asked.right, strict=True)
            ])  # fmt: skip
            took = told[search]["p50"]
            row += [f"{ms(took)} {beside(took, helix[search]['p50'])}", f"{mean:.3f}"]
        rows.append(row)
    columns = ["", "load, s", "dense p50, ms", "nDCG@10", "hybrid p50, ms", "nDCG@10"]
    title = f"{len(asked.texts)} questions; in brackets, of Helix's"
    Report(judged=False).table(title, columns, rows)


def _named(name: str, python: str | None) -> str:
    if name == HELIX:
        return f"helix {version('helix-answers')}"
    package = PEERS[name]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    told = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    return f"{package} {told}"


if __name__ == "__main__":
    main()
