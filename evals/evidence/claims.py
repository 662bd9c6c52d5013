"""Claims of the public sets with the sentences that they are held against, and what is borne out.

SummEdits' summaries are taken apart into sentences; what was edited is known by the summary that
they were made from. WiCE's ``unsupported_tokens`` mark single words. Human answers of CLAPNQ and
mtRAG, and answers of models that people rated wholly faithful, are borne out by their passages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median
from typing import Any

from helix.language.sentences import sentences

Marked = tuple[tuple[int, int], ...]
"""Characters of a claim that are not borne out."""

DOMAINS = ("ectsum", "podcast", "qmsumm", "sales_call", "samsum")
"""Of SummEdits."""
LEFT_OUT = ("podcast", "sales_call")
"""Domains of SummEdits that nothing is learned from."""
_TOKEN = re.compile(r"\w+(?:[.,]\d+)*|[^\w\s]")
_LIST_MARK = re.compile(r"^\s*(?:[-*]|\d+\.)\s+|\*\*")
_LEAST_WORDS = 4
_FAITHFUL = 4.0


@dataclass(frozen=True)
class Claim:
    """A claim, ``label`` 1 where ``sentences`` do not bear it out.

    ``bad`` are the characters that they do not; None where that is not known. ``document`` is what
    sets are split by, ``whole`` the text that the claim is part of.
    """

    set: str
    document: str
    text: str
    sentences: tuple[str, ...]
    label: float
    bad: Marked | None = None
    headings: str = ""
    whole: str = ""


def summedits(data: Path, domains: Sequence[str] = DOMAINS) -> Iterator[Claim]:
    """The sentences of SummEdits' summaries; those of a wrong one that nothing was edited in hold.

    An edit that stands in a right summary of the same document too is not known to be wrong.
    """
    for domain in domains:
        entries = json.loads((data / f"summedits/{domain}.json").read_text("utf-8"))
        claims = [claim for entry in entries for claim in _of_summary(domain, entry)]
        right: dict[str, set[str]] = {}
        for one in claims:
            if not one.label:
                right.setdefault(one.document, set()).update(_words(one.text))
        for one in claims:
            yield _without_neutral(one, right.get(one.document, set()))


def _of_summary(domain: str, entry: dict[str, Any]) -> Iterator[Claim]:
    text, read = entry["summary"], tuple(sentences(entry["doc"]))
    document = f"{domain} {entry['id'].rpartition('_')[0]}"
    edits = _edits(entry["original_summary"] or text, text)
    at = 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        own = tuple(
            (max(a, start) - start, min(b, at) - start) for a, b in edits if a < at and b > start
        )
        wrong = bool(own) and entry["label"] == 0
        yield Claim(
            f"summedits {domain}", document, sentence, read, float(wrong), own if wrong else (),
            whole=entry["id"],
        )  # fmt: skip


def _edits(before: str, after: str) -> list[tuple[int, int]]:
    """The characters of ``after`` that were put in, or stand where something was taken out."""
    tokens = list(_TOKEN.finditer(after))
    old, new = (
        [one[0].lower() for one in _TOKEN.finditer(before)],
        [one[0].lower() for one in tokens],
    )
    found = []
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal" and tokens:
            first = min(start, len(tokens) - 1)
            found.append((tokens[first].start(), tokens[max(first, end - 1)].end()))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _without_neutral(claim: Claim, right: set[str]) -> Claim:
    if not claim.label or not claim.bad:
        return claim
    bad = tuple(one for one in claim.bad if not set(_words(claim.text[slice(*one)])) <= right)
    return replace(claim, bad=bad or None)


def wice(data: Path) -> Iterator[Claim]:
    """WiCE's claims: partly supported ones are not borne out."""
    for entry in _lines(data / "wice/claim_dev.jsonl"):
        yield Claim(
            "wice", entry["meta"]["id"], entry["claim"], tuple(entry["evidence"]),
            float(entry["label"] != "supported"),
        )  # fmt: skip


def wice_tokens(data: Path) -> Iterator[Claim]:
    """Other claims of WiCE, whose words that are not borne out are marked."""
    for entry in _lines(data / "wice/unsupported_tokens.jsonl"):
        at, bad = 0, []
        for token, is_bad in zip(entry["claim_tokens"], entry["non_supported_spans"], strict=True):
            start = entry["claim"].find(token, at)
            if start < 0:
                continue
            at = start + len(token)
            bad += [(start, at)] if is_bad else []
        yield Claim(
            "wice tokens", entry["meta"]["id"], entry["claim"], tuple(entry["evidence"]), 1.0,
            tuple(bad), entry["meta"]["claim_title"],
        )  # fmt: skip


def human_answers(data: Path) -> Iterator[Claim]:
    """The sentences of people's answers: CLAPNQ's and mtRAG's."""
    for entry in _lines(data / "clapnq/answerable.jsonl"):
        passage = entry["passages"][0]
        for output in entry["output"][:2]:
            for said in sentences(output["answer"]):
                read = tuple(sentences(passage["text"]))
                yield Claim("clapnq", passage["title"], said, read, 0.0, (), passage["title"])
    for entry in _lines(data / "mtrag/un_reference.jsonl"):
        if entry["answerability"] != ["ANSWERABLE"]:
            continue
        read = tuple(one for context in entry["contexts"] for one in sentences(context["text"]))
        for said in sentences(entry["targets"][0]["text"])[:6]:
            if len(said.split()) > _LEAST_WORDS:
                yield Claim("mtrag", entry["conversation_id"], said, read, 0.0)


def ratings(data: Path) -> Iterator[Claim]:
    """The sentences of rated answers; none is known to hold where the whole is not faithful."""
    file = json.loads((data / "mtrag/human_ratings.json").read_text("utf-8"))
    documents = {one["document_id"]: one["text"] for one in file["documents"]}
    contexts = {one["task_id"]: one["contexts"] for one in file["tasks"]}
    for answer in file["evaluations"]:
        task = answer["task_id"]
        texts = [documents[one["document_id"]] for one in contexts[task]]
        read = tuple(one for text in texts for one in sentences(text))
        rated = answer["annotations"]["faithfulness"].values()
        holds = median(float(one["value"]) for one in rated) >= _FAITHFUL
        for said in sentences(answer["model_response"]) if read else ():
            text = _LIST_MARK.sub("", said)
            if len(text.split()) >= _LEAST_WORDS:
                yield Claim(
                    "ratings", task, text, read, float(not holds), () if holds else None,
                    whole=f"{task} {answer['model_id']}",
                )  # fmt: skip


def rated_to_learn_from(data: Path) -> frozenset[str]:
    """Every second one of the questions whose answers were rated."""
    return frozenset(sorted({one.document for one in ratings(data)})[::2])


def answered_questions(data: Path) -> Iterator[Claim]:
    """SQuAD's questions with their answers behind them, those of near misses not borne out."""
    file = json.loads((data / "squad2/dev-8-articles.json").read_text("utf-8"))
    for article in file["data"]:
        heading = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            read = tuple(sentences(paragraph["context"]))
            yield from _answered(paragraph["qas"], read, heading)


def _answered(
    asked: Sequence[dict[str, Any]], read: tuple[str, ...], heading: str
) -> Iterator[Claim]:
    for one in asked:
        wrong = bool(one["is_impossible"])
        answers = one.get("plausible_answers", []) if wrong else one["answers"]
        if answers:
            text = f"{one['question']} {answers[0]['text']}"
            yield Claim("squad", heading, text, read, float(wrong), None if wrong else (), heading)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text("utf-8").splitlines():
        yield json.loads(line)
