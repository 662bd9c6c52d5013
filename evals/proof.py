"""Figures of the verifier: ``python -m evals.proof --data DIR``.

Offline answers over the public sets, each proved as it is; those to questions that the rules were
not set on again with one thing altered: a marker, a digit, a number word, a unit, an identifier,
a name (also at a sentence's start, a short one, two exchanged), a negation, a denying word, a word
put for its opposite, a quantifier. Prints Markdown. 10,000 answers take some ten minutes on two
idle cores.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.gate_offline import SIZES, build, wilson
from evals.offline_sets import load_all
from evals.proof_answers import Case, answers
from helix.context import Source
from helix.proof import Proof, prove
from helix.records import Hit

PAIRS = Path(__file__).parent / "proof_pairs.json"

_QUOTE = re.compile(r"(?P<text>.+?) \[(?P<n>\d+)\](?= |\Z)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|may|will|should|did|does)\b")
_NOT = re.compile(r"\b(?:(?<!whether or )not|never) |(?<=\bcan)not\b")
_DIGIT = re.compile(r"(?<![A-Za-z0-9(\[-])\d+(?:[.,]\d+)*(?![A-Za-z0-9)\]])")
_WORDS = "two three four five six seven eight nine ten eleven twelve twenty thirty".split()
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
_KINDS_OF_UNIT = (
    "minutes hours days weeks months years", "metres kilometres miles", "meters kilometers miles",
    "grams kilograms tonnes", "dollars euros", "million billion", "percent",
)  # fmt: skip
_UNIT_GROUPS = {unit: group.split() for group in _KINDS_OF_UNIT for unit in group.split()}
_UNIT_GROUPS["percent"] = ["percentage points"]
_UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(_UNIT_GROUPS)})\b(?! points?)")
_IDENTIFIER = re.compile(r"\b(?=[A-Za-z]*[A-Z])[A-Za-z]{1,10}-?\d{1,6}\b")
_FIRST_NAME = re.compile(r"\A[A-Z][a-z]{3,}\b(?= (?:is|was|has|had|were|are|[A-Z]))")
_SHORT_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]{0,2}\b(?!\.)")
_DENIAL = re.compile(
    r"\b(?:failed to|fails to|fail to|refused to|unable to|lack of|denied|lacks?) "
)
_OPPOSITE = {
    word: other
    for one, other in (
        ("increased", "decreased"), ("increase", "decrease"), ("before", "after"),
        ("allowed", "banned"), ("rejected", "approved"), ("higher", "lower"),
        ("largest", "smallest"),
        ("started", "ended"), ("won", "lost"), ("positive", "negative"), ("rose", "fell"),
        ("first", "last"), ("northern", "southern"), ("effective", "ineffective"),
        ("more", "less"),
    )
    for word, other in ((one, other), (other, one))
}  # fmt: skip
_OPPOSED = re.compile(rf"\b(?:{'|'.join(_OPPOSITE)})\b")
_QUANTIFIER = re.compile(
    r"\b(?:all|some|most|few)\b(?= (?!of\b)[a-z]+s\b| of the\b)", re.IGNORECASE
)


@dataclass(frozen=True)
class Altered:
    """An answer with one thing altered, ``quote`` being what it now says, cited to ``n``."""

    kind: str
    answer: str
    quote: str
    n: int
    case: Case


def alterations(case: Case, names: Sequence[str], draw: random.Random) -> Iterator[Altered]:
    """One alteration of each kind that the answer has room for, in a quote drawn by ``draw``."""
    quotes = list(_QUOTE.finditer(case.answer))
    for kind, alter in _KINDS.items():
        quote = draw.choice(quotes)
        text, n = alter(quote["text"], int(quote["n"]), names, len(case.sources), draw)
        if (text, n) == (quote["text"], int(quote["n"])) or _holds(case.sources[n - 1], text):
            continue
        head, tail = case.answer[: quote.start()], case.answer[quote.end() :]
        yield Altered(kind, f"{head}{text} [{n}]{tail}", text, n, case)


def _holds(source: Source, text: str) -> bool:
    """Whether the source has these words, one after another: then nothing false was made."""
    return _folded(text) in _folded(source.content)


def _folded(text: str) -> str:
    return " ".join(["", *re.findall(r"\w+|[$€£%]", text.casefold()), ""])


def _marker(
    text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
) -> tuple[str, int]:
    others = [other for other in range(1, sources + 1) if other != n]
    return text, draw.choice(others) if others else n


def _exchange(pattern: re.Pattern[str], put: Callable[[str, Sequence[str], random.Random], str]):  # type: ignore[no-untyped-def]
    def alter(
        text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
    ) -> tuple[str, int]:
        found = list(pattern.finditer(text))
        if not found:
            return text, n
        match = draw.choice(found)
        return text[: match.start()] + put(match[0], names, draw) + text[match.end() :], n

    return alter


def _other_digit(found: str, names: Sequence[str], draw: random.Random) -> str:
    at = draw.choice([i for i, c in enumerate(found) if c.isdigit()])
    digit = draw.choice([d for d in "123456789" if d != found[at]])
    return found[:at] + digit + found[at + 1 :]


def _other_word(found: str, names: Sequence[str], draw: random.Random) -> str:
    return draw.choice([word for word in _WORDS if word != found])


def _other_name(found: str, names: Sequence[str], draw: random.Random) -> str:
    return draw.choice([name for name in names if name != found])


def _other_if_name(found: str, names: Sequence[str], draw: random.Random) -> str:
    """Another name of what elsewhere stands within sentences: `There` is none."""
    return _other_name(found, names, draw) if found in names else found


def _other_unit(found: str, names: Sequence[str], draw: random.Random) -> str:
    return draw.choice([unit for unit in _UNIT_GROUPS[found] if unit != found])


def _other_short(found: str, names: Sequence[str], draw: random.Random) -> str:
    return draw.choice([name for name in ("Li", "Bo", "Ann", "Tim", "Ray", "Q") if name != found])


def _other_quantity(found: str, names: Sequence[str], draw: random.Random) -> str:
    """One that claims more, or less of `all`."""
    more = {"few": "most", "some": "all", "most": "all", "all": "few"}[found.lower()]
    return more.capitalize() if found[0].isupper() else more


def _swapped(
    text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
) -> tuple[str, int]:
    """Two names of the quote in each other's place, with a verb between them."""
    found = [m for m in _NAME.finditer(text) if m[0] in names]
    pairs = [
        (one, two)
        for one, two in itertools.pairwise(found)
        if one[0] != two[0] and len(text[one.end() : two.start()].split()) >= 2
        and not re.search(r",|\b(?:and|or)\b", text[one.end() : two.start()])
    ]  # fmt: skip
    if not pairs:
        return text, n
    one, two = draw.choice(pairs)
    between = text[one.end() : two.start()]
    return text[: one.start()] + two[0] + between + one[0] + text[two.end() :], n


_KINDS = {
    "marker": _marker,
    "digit": _exchange(_DIGIT, _other_digit),
    "number word": _exchange(_NUMBER_WORD, _other_word),
    "name": _exchange(_NAME, _other_name),
    "name at the start": _exchange(_FIRST_NAME, _other_if_name),
    "short name": _exchange(_SHORT_NAME, _other_short),
    "two names exchanged": _swapped,
    "unit": _exchange(_UNIT, _other_unit),
    "identifier": _exchange(_IDENTIFIER, _other_digit),
    "denying word removed": _exchange(_DENIAL, lambda found, names, draw: ""),
    "opposite": _exchange(_OPPOSED, lambda found, names, draw: _OPPOSITE[found]),
    "quantifier": _exchange(_QUANTIFIER, _other_quantity),
    "not inserted": _exchange(_AUXILIARY, lambda found, names, draw: f"{found} not"),
    "not removed": _exchange(_NOT, lambda found, names, draw: ""),
}


def quotes_hold(proof: Proof, case: Case) -> bool:
    """Whether every quote is the document's own characters, within its chunk."""
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


def altered(cases: Sequence[Case], each: int, missed: list[Altered]) -> Iterator[str]:
    """Table of altered answers, so many of each kind; only fresh ones that were supported whole."""
    draw = random.Random(0)
    corpus_names = sorted({m for c in cases for m in _NAME.findall(c.answer)})
    caught: Counter[str] = Counter()
    made: Counter[str] = Counter()
    seconds = []
    for case in (case for case in draw.sample(cases, len(cases)) if case.fresh):
        if all(made[kind] >= each for kind in _KINDS):
            break
        if any(s.problem for s in prove(case.answer, case.sources).statements):
            continue
        for one in alterations(case, corpus_names, draw):
            if made[one.kind] >= each:
                continue
            begun = time.thread_time()
            proof = prove(one.answer, case.sources)
            seconds.append(time.thread_time() - begun)
            made[one.kind] += 1
            if any(s.problem for s in proof.statements):
                caught[one.kind] += 1
            else:
                missed.append(one)
    yield "\n| altered, of fresh questions | answers | caught |\n|---|---|---|"
    for kind in _KINDS:
        yield f"| {kind} | {made[kind]} | {caught[kind]} |"
    yield f"| all | {made.total()} | {wilson(caught.total(), made.total())} |"
    yield f"\nProving these: {_milliseconds(seconds)} ms of processor time, p50 / p99 / most."


def paraphrases() -> Iterator[str]:
    """Table of the pairs written by hand, by set: `held out` was written before the rules were."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    wrong = []
    for pair in json.loads(PAIRS.read_text("utf-8")):
        proof = prove(f"{pair['claim']} [1]", [_alone(pair["passage"])])
        supported = all(each.problem is None for each in proof.statements)
        counts[pair["set"], pair["supported"], supported] += 1
        if supported != pair["supported"]:
            problems = [s.problem for s in proof.statements]
            wrong.append(f"- {pair['set']}: {pair['claim']} ({problems})")
    yield "\n| claims written by hand | true | false alarms | false | passed |"
    yield "|---|---|---|---|---|"
    sets = dict.fromkeys(name for name, *_ in counts)
    for name in sets:
        yes, no = (counts[name, kind, True] + counts[name, kind, False] for kind in (True, False))
        alarms, passed = counts[name, True, False], counts[name, False, True]
        yield f"| {name} | {yes} | {wilson(alarms, yes)} | {no} | {wilson(passed, no)} |"
    yield "\nJudged wrong:\n\n" + "\n".join(wrong)


def _alone(text: str) -> Source:
    hit = Hit(1, 1, "Document", "", 0, text, 0, len(text), "1", 0.3)
    return Source(hit, (hit,), text, 0, len(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=300, help="altered answers of each kind")
    parser.add_argument("--show", type=int, default=0, help="altered answers not caught to print")
    arguments = parser.parse_args()
    corpora = build(load_all(arguments.data), *SIZES[0], titled=True)
    cases = list(answers(corpora, arguments.answers))
    missed: list[Altered] = []
    for lines in (untouched(cases), altered(cases, arguments.each, missed), paraphrases()):
        for line in lines:
            print(line, flush=True)
    for one in missed[: arguments.show]:
        print(f"\nmissed, {one.kind}: {one.quote} [{one.n}]")


if __name__ == "__main__":
    main()
