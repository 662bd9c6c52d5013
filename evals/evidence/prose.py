"""Statements of prose, proved on the path that serves: how likely each is borne out, and the bar.

The adapters learned from no claim of a set that is not marked as learned from; the nine numbers of
the regression were fitted on all of them (evals.evidence.fit_statements, whose table has each half
by the weights of the other).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from evals.evidence import claims
from evals.evidence.asked import share_of
from evals.evidence.claims import Claim
from evals.evidence.kept import Kept, Row
from evals.proof_alterations import NAME, alone, alterations
from evals.proof_answers import Case
from helix.answering.proof import Proof, Statement, prove
from helix.domain.context import Source
from helix.evidence.statements import statement_reader
from helix.language.sentences import sentences

STATEMENTS = Path(__file__).parents[1] / "datasets/prose_statements.json"
"""Statements that small models wrote over documents of ours, marked by hand."""
BORNE_OUT, PARTLY, NOT = "borne out", "partly", "not"
ALTERED = {
    "digit": "number", "number word": "number", "identifier": "number", "name": "name",
    "name at the start": "name", "short name": "name", "not inserted": "negation",
    "not removed": "negation", "denying word removed": "negation",
}  # fmt: skip
"""The kinds of evals.proof_alterations that change a number, a name or a negation, and which."""
_SIX = 6  # statements of the answers whose proof is timed
_TIMED = 40
_SEED = 5


def by_hand() -> Iterator[Claim]:
    """The statements marked by hand; what is partly borne out is not."""
    file = json.loads(STATEMENTS.read_text("utf-8"))
    for answer in file["answers"]:
        texts = [file["passages"][place] for place in answer["sources"]]
        for one in answer["statements"]:
            read = tuple(said for n in one["cites"] for said in sentences(texts[n - 1]))
            wrong = float(one["mark"] != BORNE_OUT)
            yield Claim(one["mark"], answer["document"], one["text"], read, wrong)


def _rated(data: Path) -> Iterator[Claim]:
    learned = claims.rated_to_learn_from(data)
    return (one for one in claims.ratings(data) if one.document not in learned)


def _edited(domain: str) -> Callable[[Path], Iterator[Claim]]:
    return lambda data: claims.summedits(data, [domain])


PROSE: Mapping[str, Callable[[Path], Iterator[Claim]]] = {
    **{f"summedits-{domain}": _edited(domain) for domain in claims.LEFT_OUT},
    "wice": claims.wice,
    "ratings": _rated,
    "clapnq-answers": lambda data: (c for c in claims.human_answers(data) if c.set == "clapnq"),
    "prose": lambda data: by_hand(),
}
"""By the name that ``--set`` takes."""
LEARNED = frozenset({"clapnq-answers"})
"""Sets whose claims the adapters learned from, all of them."""


def source_of(claim: Claim) -> Source:
    """The sentences that a claim is held against, as one source."""
    return alone("\n".join(claim.sentences), 1, claim.headings)


def prove_missing(known: Sequence[Claim], kept: Kept, until: float, most: int) -> None:
    """Prove what is not kept yet, altered claims after those that they were made from.

    ``most`` claims of a set, whole texts in an order of which every beginning is a fair sample;
    ``until`` as evals.evidence.served has it.
    """
    ordered = sorted(known, key=lambda one: share_of(one.whole or f"{one.document} {one.text}"))
    names = sorted({name for one in known for name in NAME.findall(one.text)})
    for place, claim in enumerate(ordered[:most]):
        if time.monotonic() > until:
            return
        identity = f"{place} {claim.text}"
        if identity not in kept:
            for row in _measured(claim, identity, names):
                kept.keep(row)
    if "six" not in kept:
        kept.keep({"id": "six", "kind": "timed", "milliseconds": list(_timed(ordered))})


def _measured(claim: Claim, identity: str, names: Sequence[str]) -> Iterator[Row]:
    """The claim altered, where it holds and is proven, and as it is: last, for then all is kept."""
    source = source_of(claim)
    proof = prove(f"{claim.text.strip()} [1]", [source])
    if is_proven(proof) and not claim.label:
        case = Case(f"{claim.text.strip()} [1]", [source], [source.content])
        draw = random.Random(f"{_SEED} {claim.text}")
        for one in alterations(case, names, draw):
            if one.kind in ALTERED:
                yield {
                    "id": f"{one.kind} {identity}", "kind": "altered", "altered": one.kind,
                    "proven": is_proven(prove(one.answer, [source])), "text": one.quote,
                }  # fmt: skip
    yield {
        "id": identity, "kind": "claim" if proof.statements else "nothing said",
        "of": claim.set, "label": claim.label, "whole": claim.whole or identity,
        "proven": is_proven(proof), "score": score(proof),
    }  # fmt: skip


def is_proven(proof: Proof) -> bool:
    """True where every statement is borne out, and there is one."""
    return bool(proof.statements) and not any(one.problem for one in proof.statements)


def score(proof: Proof) -> float:
    """The least probability of its statements; what an exact check decides counts as 1 or 0."""
    return min((_score(one) for one in proof.statements), default=0.0)


def _score(one: Statement) -> float:
    is_enough = one.probability is not None and one.probability >= statement_reader().bar
    if one.probability is None or (one.problem and is_enough):
        return float(one.problem is None)
    return one.probability


def _timed(known: Sequence[Claim]) -> Iterator[float]:
    """Processor time of proving answers of six statements, in milliseconds."""
    by_text: dict[tuple[str, ...], list[Claim]] = {}
    for one in known:
        by_text.setdefault(one.sentences, []).append(one)
    enough = [texts for texts in by_text.values() if len(texts) >= _SIX][:_TIMED]
    for texts in enough:
        answer = "\n".join(f"{one.text.strip()} [1]" for one in texts[:_SIX])
        statement_reader.cache_clear()  # it keeps what it read for the claims above
        statement_reader()
        began = time.process_time()
        prove(answer, [source_of(texts[0])])
        yield round(1000 * (time.process_time() - began), 1)
