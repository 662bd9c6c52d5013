"""Figures of the verifier: ``python -m evals.proof --data DIR``.

Offline answers over the public sets, each proved as it is; those to questions that the rules were
not set on again with one thing altered (evals/proof_alterations.py); pairs written by hand; and
answers that people rated. Prints Markdown. 10,000 answers take some fifteen minutes on two idle
cores.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from evals.corpora import embed_corpus
from evals.datasets import load_all
from evals.metrics.statistics import wilson
from evals.proof_alterations import KINDS, NAME, Altered, alterations
from evals.proof_answers import Case, answers
from evals.proof_pairs import hand_pairs, is_flagged
from evals.proof_ratings import FAITHFUL, RatedAnswer, auroc, auroc_interval, rated_answers
from helix.answering.proof import Proof, prove


def quotes_hold(proof: Proof, case: Case) -> bool:
    """True where every quote is the document's own characters, within its chunk."""
    hits = {hit.chunk_id: hit for source in case.sources for hit in source.hits}
    return all(
        case.documents[s.document_id][s.start : s.end] == s.quote
        and (hits[s.chunk_id].start_char or 0) <= s.start < s.end
        and s.end <= (hits[s.chunk_id].end_char or 0)
        for statement in proof.statements
        for s in statement.supports
    )


def untouched(cases: Sequence[Case]) -> Iterator[str]:
    """Table of the answers as they are."""
    proofs, seconds = [], []
    for case in cases:
        begun = time.thread_time()
        proofs.append(prove(case.answer, case.sources))
        seconds.append(time.thread_time() - begun)
    statements = [each for proof in proofs for each in proof.statements]
    problems = Counter(each.problem for each in statements if each.problem)
    wrong = sum(bool(s.problem) for s in statements)
    held = sum(quotes_hold(proof, case) for proof, case in zip(proofs, cases, strict=True))
    alarms = sum(any(s.problem for s in proof.statements) for proof in proofs)
    yield "| offline answers as they are | |\n|---|---|"
    yield f"| answers | {len(cases)} |"
    yield f"| that cite a source of several chunks | {sum(map(_cites_joined, proofs, cases))} |"
    yield f"| whose every quote is the stored bytes, inside its chunk | {held} |"
    yield f"| dangling markers | {problems['no such source']} |"
    yield f"| spans | {sum(len(s.supports) for s in statements)} |"
    supported = len(statements) - wrong
    yield f"| statements supported | {wilson(supported, len(statements))}, n={len(statements)} |"
    yield f"| answers with a false alarm | {wilson(alarms, len(cases))} |"
    yield f"| false alarms by problem | {dict(problems)} |"
    yield f"| proving, ms of processor time, p50 / p99 / most | {_milliseconds(seconds)} |"


def _cites_joined(proof: Proof, case: Case) -> bool:
    cited = {n for each in proof.statements for n in each.numbers}
    return any(len(s.hits) > 1 for n, s in enumerate(case.sources, 1) if n in cited)


def _milliseconds(seconds: Sequence[float]) -> str:
    parts = (*np.quantile(seconds, (0.5, 0.99)), max(seconds))
    return " / ".join(f"{1000 * part:.2f}" for part in parts)


def altered(cases: Sequence[Case], each: int, found: list[Altered]) -> Iterator[str]:
    """Table of altered answers, so many of each kind; only fresh ones that were supported whole.

    They are added to ``found``.
    """
    draw = random.Random(0)
    corpus_names = sorted({m for c in cases for m in NAME.findall(c.answer)})
    caught: Counter[str] = Counter()
    made: Counter[str] = Counter()
    seconds = []
    for case in (case for case in draw.sample(cases, len(cases)) if case.fresh):
        if all(made[kind] >= each for kind in KINDS):
            break
        if any(s.problem for s in prove(case.answer, case.sources).statements):
            continue
        for one in alterations(case, corpus_names, draw):
            if made[one.kind] >= each:
                continue
            begun = time.thread_time()
            caught[one.kind] += is_flagged(one)
            seconds.append(time.thread_time() - begun)
            made[one.kind] += 1
            found.append(one)
    yield "\n| altered, of fresh questions | answers | caught |\n|---|---|---|"
    for kind in KINDS:
        yield f"| {kind} | {made[kind]} | {caught[kind]} |"
    yield f"| all | {made.total()} | {wilson(caught.total(), made.total())} |"
    yield f"\nProving these: {_milliseconds(seconds)} ms of processor time, p50 / p99 / most."


def paraphrases() -> Iterator[str]:
    """Table of the pairs written by hand, by set."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    wrong = []
    for pair in hand_pairs():
        supported = not any(pair.problems())
        counts[pair.set, pair.true, supported] += 1
        if supported != pair.true:
            wrong.append(f"- {pair.set}: {pair.claim} ({pair.problems()})")
    yield "\n| claims written by hand | true | false alarms | false | passed |"
    yield "|---|---|---|---|---|"
    sets = dict.fromkeys(name for name, *_ in counts)
    for name in sets:
        yes, no = (counts[name, kind, True] + counts[name, kind, False] for kind in (True, False))
        alarms, passed = counts[name, True, False], counts[name, False, True]
        yield f"| {name} | {yes} | {wilson(alarms, yes)} | {no} | {wilson(passed, no)} |"
    yield "\nJudged wrong:\n\n" + "\n".join(wrong)


def ratings(rated: Sequence[RatedAnswer]) -> Iterator[str]:
    """Table of the answers that people rated: unproven statements against their faithfulness."""
    shares = [(each.faithfulness, each.unproven()) for each in rated]
    yield "\n| rated answers | these | unproven | others | unproven | AUROC |"
    yield "|---|---|---|---|---|---|"
    for limit in (FAITHFUL, 3.0, 2.0):
        below = [share for rating, share in shares if rating < limit]
        others = [share for rating, share in shares if rating >= limit]
        low, high = auroc_interval(below, others)
        yield (
            f"| median below {limit:g} | {len(below)} | {np.mean(below):.2f} | {len(others)}"
            f" | {np.mean(others):.2f} | {auroc(below, others):.3f} [{low:.3f}, {high:.3f}] |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="public sets")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=300, help="altered answers of each kind")
    parser.add_argument("--show", type=int, default=0, help="altered answers not caught to print")
    arguments = parser.parse_args()
    corpora = [embed_corpus(source) for source in load_all(arguments.data)]
    cases = list(answers(corpora, arguments.answers))
    rated = rated_answers(arguments.data)
    found: list[Altered] = []
    for lines in (untouched(cases), altered(cases, arguments.each, found), paraphrases()):
        print(*lines, sep="\n", flush=True)
    print(*ratings(rated), sep="\n", flush=True)
    for one in [one for one in found if not is_flagged(one)][: arguments.show]:
        print(f"\nmissed, {one.kind}: {one.quote} [{one.n}]")


if __name__ == "__main__":
    main()
