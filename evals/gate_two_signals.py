"""Whether a lexical match may pass the gate: ``python -m evals.gate_two_signals --data DIR``.

Each corpus is asked questions that it covers and questions that it does not; for each kind the
share that passes is given by distance alone and under each rule beside it. A rule passes a question
that the distance refuses when one chunk has all of its rare words. Exact search; prints Markdown.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from snowballstemmer import stemmer

from evals.gate_offline import COVERAGE, SIZES, wilson
from evals.identifiers import TEMPLATES, identifiers, reports
from evals.offline_sets import (
    Document,
    Question,
    QuestionSet,
    load_covidqa,
    load_scifact,
    load_squad,
)
from evals.retrieval import paragraphs
from helix.contract import DEFAULT_DENSE_WEIGHT, REFUSAL
from helix.gate import RARE_CHUNKS, is_identifier
from helix.hybrid_sql import LISTED
from helix.providers.offline import MAX_DISTANCE
from helix.providers.offline.extract import extract
from helix.providers.offline.reading import Source
from helix.providers.offline.vectors import word_vectors
from helix.term_rows import K1, B
from helix.terms import SIMPLE, STOP_WORDS, terms
from pipelines.splitters import chunk_spans

EACH = 300
"""Questions of one kind at most, drawn with a seed."""
TOP_K = 5
ASPECTS = (
    "What is the warranty period of {}?",
    "Who invented {}?",
    "How much does {} cost in Norway?",
    "Which colours is {} sold in?",
    "How do I reset the password of {}?",
)
COMMON_ASPECTS = (
    "What is the risk of {}?",
    "How many patients were treated with {}?",
    "What was the revenue of {} in the quarter?",
    "How effective is {} in children?",
    "When did {} increase?",
)
"""Asked of identifiers that are stored, about what the documents hardly say of them: in words that
are rare in the corpus, and in words that it is full of."""

Floats = NDArray[np.float64]
Words = Sequence[tuple[str, frozenset[str]]]


def any_word(word: str) -> bool:
    return True


def has_digit(word: str) -> bool:
    return bool(re.search(r"\d", word))


@dataclass(frozen=True)
class Rule:
    """Passes a question when a chunk, one of the first five, has all of its rare words.

    Rare is a word in at most ``share`` of the chunks, or in at most ``least``; one that is in none
    is rare and met nowhere. One of them must be as ``needs`` says, and in at most ``least`` chunks
    or ``key_share`` of them. ``margin`` is how far above the ceiling the chunk may lie.
    """

    name: str
    share: float
    needs: Callable[[str], bool] = is_identifier
    key_share: float = 1.0
    margin: float = np.inf
    least: int = RARE_CHUNKS


RULES = (
    Rule("any word, 1%", 0.01, any_word),
    Rule("a digit, 1%", 0.01, has_digit),
    Rule("identifier, 0.2%", 0.002),
    Rule("identifier, 0.5%", 0.005),
    Rule("identifier, 1%", 0.01),
    Rule("identifier, 5%", 0.05),
    Rule("identifier of 1%, every word", 1.0, key_share=0.01),
    Rule("identifier of 0.2%, 1%", 0.01, key_share=0.002),
    Rule("identifier, 1%, within 0.1", 0.01, margin=0.1),
)


@dataclass(frozen=True)
class Corpus:
    """Texts and vectors of chunks, the gate's ceiling, and questions by kind with vectors."""

    name: str
    texts: Sequence[str]
    titles: Sequence[str]
    vectors: NDArray[np.float32]
    ceiling: float
    asked: Mapping[str, tuple[Sequence[str], NDArray[np.float32]]] = field(default_factory=dict)

    @cached_property
    def counts(self) -> list[dict[str, int]]:
        return [
            _counted(terms(f"{title}\n{text}"))
            for title, text in zip(self.titles, self.texts, strict=True)
        ]

    @cached_property
    def postings(self) -> dict[str, dict[int, float]]:
        """BM25 of each term in each chunk that has it."""
        lengths = np.array([sum(count.values()) for count in self.counts], dtype=np.float64)
        softening = K1 * (1 - B + B * lengths / lengths.mean())
        found: dict[str, dict[int, float]] = {}
        for chunk, counts in enumerate(self.counts):
            for term, n in counts.items():
                found.setdefault(term, {})[chunk] = n / (n + softening[chunk])
        return found

    def having(self, forms: frozenset[str]) -> set[int]:
        """The chunks that have one of these terms."""
        return {chunk for form in forms for chunk in self.postings.get(form, ())}

    def scores(self, words: Words) -> Floats:
        total = np.zeros(len(self.texts))
        for form in {form for _, forms in words for form in forms}:
            chunks = self.postings.get(form, {})
            idf = np.log(1 + (len(self.texts) - len(chunks) + 0.5) / (len(chunks) + 0.5))
            for chunk, value in chunks.items():
                total[chunk] += idf * value
        return total


def _counted(found: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for term in found:
        counts[term] = counts.get(term, 0) + 1
    return counts


def words_of(question: str) -> Words:
    """The content words of a question, each with the forms that stored text may have it in."""
    plain = dict.fromkeys(w for w in terms(question, SIMPLE) if w not in STOP_WORDS)
    stem = stemmer("english").stemWord
    return [(word, frozenset((word, stem(word)))) for word in plain]


@dataclass(frozen=True)
class Case:
    """One question put to a corpus: by distance, by each rule, and what becomes of it then."""

    near: bool
    passed: Sequence[bool]
    answered: bool


def put(corpus: Corpus, question: str, vector: NDArray[np.float32]) -> Case:
    """What becomes of one question; a zero vector is at no distance from anything."""
    words = words_of(question)
    distances = 1 - (corpus.vectors @ vector).astype(np.float64)
    if not vector.any():
        distances[:] = np.nan
    near = bool((distances <= corpus.ceiling).any())
    first = _first(corpus, words, distances)
    passed = [near or matches(rule, corpus, words, distances, first) for rule in RULES]
    sources = [Source(n, corpus.texts[chunk]) for n, chunk in enumerate(first, start=1)]
    answered = any(passed) and extract(question, sources) != REFUSAL
    return Case(near, passed, answered)


def matches(
    rule: Rule, corpus: Corpus, words: Words, distances: Floats, first: Sequence[int]
) -> bool:
    """Whether one of the ``first`` chunks has all rare words, and what else the rule asks."""
    limit, most = (max(rule.least, s * len(corpus.texts)) for s in (rule.share, rule.key_share))
    having = [(word, corpus.having(forms)) for word, forms in words]
    rare = [(word, chunks) for word, chunks in having if len(chunks) <= limit]
    if not any(rule.needs(word) and len(chunks) <= most for word, chunks in rare):
        return False
    both = set.intersection(*(chunks for _, chunks in rare)).intersection(first)
    reach = corpus.ceiling + rule.margin
    return any(rule.margin == np.inf or distances[chunk] <= reach for chunk in both)


def _first(corpus: Corpus, words: Words, distances: Floats) -> list[int]:
    """Hybrid search's first five."""
    scores = corpus.scores(words)
    cosines = np.nan_to_num(1 - distances)
    listed = {*np.argsort(-cosines)[:LISTED], *np.argsort(-scores)[:LISTED]}
    fused = DEFAULT_DENSE_WEIGHT * cosines
    fused = fused + (1 - DEFAULT_DENSE_WEIGHT) * scores / (scores.max() or 1.0)
    return [int(chunk) for chunk in sorted(listed, key=lambda chunk: -fused[chunk])[:TOP_K]]


def report(corpus: Corpus) -> None:
    """Print the tables of one corpus: passed, then passed and answered."""
    print(f"\n### {corpus.name}: {len(corpus.texts)} chunks, ceiling {corpus.ceiling:.3f}\n")
    print("| passes (then: is answered offline) | n | distance alone |", end="")
    print(" | ".join(f" {rule.name}" for rule in RULES), "|")
    print("|---" * (3 + len(RULES)) + "|")
    for kind, (questions, vectors) in corpus.asked.items():
        cases = [put(corpus, q, v) for q, v in zip(questions, vectors, strict=True)]
        columns = [[case.near for case in cases]]
        columns += [[case.passed[n] for case in cases] for n in range(len(RULES))]
        answered = [case.answered for case in cases]
        cells = [wilson(sum(column), len(cases)) for column in columns]
        also = [sum(p and a for p, a in zip(c, answered, strict=True)) for c in columns]
        cells = [f"{c} ({n / len(cases):.3f})" for c, n in zip(cells, also, strict=True)]
        print(f"| {kind} | {len(cases)} | {' | '.join(cells)} |", flush=True)


# --- what is asked of what -------------------------------------------------------------------


def _drawn(questions: Sequence[str], seed: int = 0) -> list[str]:
    unique = list(dict.fromkeys(questions))
    return random.Random(seed).sample(unique, min(EACH, len(unique)))


def offline(name: str, documents: Sequence[Document], asked: Mapping[str, Sequence[str]]) -> Corpus:
    """A corpus split as Helix splits it, in the offline embedder's vectors."""
    vectors = word_vectors()
    texts, titles = [], []
    for document in documents:
        for start, end in chunk_spans(document.text, *SIZES[0]):
            texts.append(document.text[start:end])
            titles.append(document.title)
    embedded = vectors.embed([f"{a}\n\n{b}" for a, b in zip(titles, texts, strict=True)])
    drawn = {kind: _drawn(questions) for kind, questions in asked.items()}
    with_vectors = {kind: (each, vectors.embed(each)) for kind, each in drawn.items() if each}
    return Corpus(name, texts, titles, embedded, MAX_DISTANCE, with_vectors)


def halved(each: QuestionSet, others: Sequence[QuestionSet]) -> Corpus:
    """Every other document of a set as the corpus; questions about the others are not covered."""
    kept = [document for n, document in enumerate(each.documents) if n % 2 == 0]
    inside = [q for q in each.questions if q.document % 2 == 0]
    outside = [q.text for q in each.answerable if q.document % 2]
    asked = {
        "covered": [q.text for q in inside if q.spans],
        "covered, with an identifier": _with_identifier(q for q in inside if q.spans),
        "not covered: near miss": [q.text for q in inside if not q.spans],
        "not covered: left-out half": outside,
        "not covered: left-out half, with an identifier": [q for q in outside if _names(q)],
        **{f"not covered: {o.name}": [q.text for q in o.answerable] for o in others},
    }
    return offline(each.name, kept, asked)


def _with_identifier(questions: Iterator[Question]) -> list[str]:
    return [q.text for q in questions if _names(q.text)]


def _names(question: str) -> bool:
    return any(is_identifier(word) for word, _ in words_of(question))


def by_identifier(data: Path) -> Corpus:
    """Every other report and article as the corpus, asked by identifier."""
    documents = [*reports(data), *load_covidqa(data).documents]
    kept, left = documents[::2], documents[1::2]
    everything = "\n".join(f"{d.title}\n{d.text}" for d in kept).casefold()
    stored = [name for name, _ in identifiers([d.text for d in kept])]
    elsewhere = [(name, left[min(at)].title) for name, at in identifiers([d.text for d in left])]
    absent = [name for name, _ in elsewhere if name.casefold() not in everything]
    here = {name.casefold() for name in stored}
    common = [(name, title) for name, title in elsewhere if name.casefold() in here]
    altered = [other for name in stored for other in _altered(name, everything)]
    source = random.Random(0)
    asked = {
        "covered": [source.choice(TEMPLATES).format(name) for name in stored],
        "covered, other case": [source.choice(TEMPLATES).format(n.swapcase()) for n in stored],
        "not covered: identifier is not stored": [
            source.choice(TEMPLATES).format(name) for name in absent
        ],
        "not covered: one digit is another": [
            source.choice(TEMPLATES).format(name) for name in altered
        ],
        "not covered: stored, asked for what is not said": [
            source.choice(ASPECTS).format(name) for name in stored
        ],
        "hardly covered: stored, asked in common words": [
            source.choice(COMMON_ASPECTS).format(name) for name in stored
        ],
        "not covered: stored, asked about a document that is not": [
            f"What does {title} say about {name}?" for name, title in common
        ],
    }
    return offline("identifiers", kept, asked)


def _altered(name: str, everything: str) -> Iterator[str]:
    places = [n for n, character in enumerate(name) if character.isdigit()]
    place = places[-1]
    other = name[:place] + str((int(name[place]) + 3) % 10) + name[place + 1 :]
    if other.casefold() not in everything:
        yield other


def with_minilm(data: Path) -> Iterator[Corpus]:
    """SQuAD by paragraph and SciFact, each asked the other's questions too."""
    squad, scifact = load_squad(data), load_scifact(data)
    chunks = list(paragraphs(squad))
    s, f = np.load(data / "squad2/minilm.npz"), np.load(data / "scifact/minilm.npz")
    contexts, questions = s["contexts"].astype(np.float32), s["questions"].astype(np.float32)
    abstracts, claims = f["documents"].astype(np.float32), f["queries"].astype(np.float32)
    distances = 1 - questions @ contexts.T
    right = np.array([bool(q.spans) for q in squad.questions])
    even = np.array([q.document % 2 == 0 for q in squad.questions])
    needed = [np.quantile(distances.min(axis=1)[right], COVERAGE)]
    needed += [np.quantile((1 - claims @ abstracts.T).min(axis=1), COVERAGE)]
    ceiling = float(np.ceil(max(needed) * 100) / 100)

    def of_squad(chosen: NDArray[np.bool_]) -> tuple[Sequence[str], NDArray[np.float32]]:
        places = np.random.default_rng(0).permutation(np.flatnonzero(chosen))[:EACH].tolist()
        return [squad.questions[n].text for n in places], questions[places]

    claimed = [q.text for q in scifact.questions], claims
    half = [n for n, chunk in enumerate(chunks) if chunk[0] % 2 == 0]
    yield Corpus(
        "SQuAD paragraphs, MiniLM",
        [squad.documents[d].text[start:end] for d, start, end in (chunks[n] for n in half)],
        [squad.documents[chunks[n][0]].title for n in half],
        contexts[half],
        ceiling,
        {
            "covered": of_squad(right & even),
            "not covered: near miss": of_squad(~right & even),
            "not covered: left-out half": of_squad(right & ~even),
            "not covered: scifact": claimed,
        },
    )
    texts, titles = zip(*((d.text, d.title) for d in scifact.documents), strict=True)
    named = np.array([_names(q) for q in claimed[0]])
    yield Corpus(
        "SciFact, MiniLM", texts, titles, abstracts, ceiling,
        {
            "covered": claimed,
            "covered, with an identifier":
                ([q for q, n in zip(claimed[0], named, strict=True) if n], claims[named]),
            "not covered: squad2": of_squad(right),
        },
    )  # fmt: skip


def corpora(data: Path) -> Iterator[Corpus]:
    """Everything that is measured, one at a time."""
    squad, covidqa, scifact = load_squad(data), load_covidqa(data), load_scifact(data)
    yield by_identifier(data)
    yield halved(squad, [covidqa, scifact])
    yield halved(covidqa, [squad, scifact])
    yield from with_minilm(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    for each in corpora(parser.parse_args().data):
        report(each)


if __name__ == "__main__":
    main()
