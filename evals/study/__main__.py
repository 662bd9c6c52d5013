"""``python -m evals.study --data DIR``: items by rule and of scripted replies over four corpora."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from evals.study.rubric import CONTROLS, GUESSES, guessed, judged, noticed
from evals.study.scopes import CORPORA, Scope, scopes_of
from evals.study.scripted_maker import ScriptedMaker
from evals.study.seeded_faults import KINDS, examined
from helix.study.examination import MALFORMED, Examiner, spans_of
from helix.study.items import Choice, Difficulty, Kind, Proven
from helix.study.maker import Maker, OfflineMaker, Order

_SEEDED = 75  # of each kind
_SHOWN = 5  # failures of a corpus that are printed


@dataclass
class Figures:
    """The figures of one corpus."""

    items: int = 0
    verified: int = 0
    stated: int = 0
    judged: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    choices: list[tuple[Proven, Scope]] = field(default_factory=list)
    noticed: Counter[str] = field(default_factory=Counter)
    guessed: Counter[str] = field(default_factory=Counter)


def main(
    data: Annotated[Path, typer.Option(help="The folder with squad2, covidqa, scifact, tatqa.")],
    items: Annotated[int, typer.Option(min=4, help="Items of all corpora together.")] = 2000,
    seeded: Annotated[int, typer.Option(min=1, help="Bad items of each kind.")] = _SEEDED,
) -> None:
    """Make items, check each span and wrong option, judge them, and seed bad ones."""
    figures_by_corpus: dict[str, Figures] = {}
    for corpus in CORPORA:
        figures_by_corpus |= asyncio.run(_corpus(corpus, data, items // len(CORPORA)))
    typer.echo(
        "corpus, made | items | spans verified | distractors stated | judged | pass | failed"
    )
    for corpus, figures in figures_by_corpus.items():
        passed = figures.judged - len(figures.failures)
        share = passed / max(figures.judged, 1)
        typer.echo(f"{corpus} | {figures.items} | {figures.verified} | {figures.stated} |"
                   f" {figures.judged} | {share:.3f} | {dict(figures.failed)}")  # fmt: skip
        typer.echo(f"  dropped: {dict(figures.dropped)}")
        for failure in figures.failures[:_SHOWN]:
            typer.echo(f"  fails: {failure}")
    _rubric_itself(list(figures_by_corpus.values()))
    asyncio.run(_seeded(figures_by_corpus, seeded))


def _rubric_itself(figures_by_corpus: list[Figures]) -> None:
    """Print the rubric's verdicts on items that are spoilt, and how often a guess is right."""
    of = max(sum(len(figures.choices) for figures in figures_by_corpus), 1)
    for kind in CONTROLS:
        seen = sum(figures.noticed[kind] for figures in figures_by_corpus)
        typer.echo(f"the rubric fails questions with a {kind}: {seen} of {of}")
    for guess in GUESSES:
        right = sum(figures.guessed[guess] for figures in figures_by_corpus)
        typer.echo(f"guessing {guess} option is right for {right / of:.3f} of {of}")


async def _corpus(corpus: str, data: Path, count: int) -> dict[str, Figures]:
    """Of a corpus' scopes every second one is asked of a model whose replies are scripted."""
    makers: dict[str, Maker] = {"by rule": OfflineMaker(), "scripted": ScriptedMaker()}
    figures_by_corpus = {name: Figures() for name in makers}
    scopes = scopes_of(corpus, data)
    remaining = count
    for number, scope in enumerate(scopes):
        name = [*makers][number % len(makers)]
        kind: Kind = "cards" if number // len(makers) % 4 == 3 else "quiz"
        level: Difficulty = "advanced" if name == "scripted" else "normal"
        before = figures_by_corpus[name].items
        share = -(-remaining // (len(scopes) - number))
        await _items(scope, kind, share, figures_by_corpus[name], makers[name], level)
        remaining -= figures_by_corpus[name].items - before
    return {f"{corpus}, {name}": figures for name, figures in figures_by_corpus.items()}


async def _items(
    scope: Scope, kind: Kind, count: int, figures: Figures, maker: Maker,
    difficulty: Difficulty = "normal",
) -> None:  # fmt: skip
    examiner = Examiner(scope.near)
    order = Order(kind, difficulty, scope.passages)
    of_passage = -(-count // len(scope.passages))
    remaining = count
    for passage in scope.passages:

        async def is_false(text: str, passage=passage) -> bool:  # type: ignore[no-untyped-def]
            return await examiner.is_unstated(text, passage)

        accepted = 0
        async for item in maker.items(order, passage, of_passage, is_false):
            if min(remaining, of_passage - accepted) <= 0:
                break
            if item is None:
                figures.dropped[MALFORMED] += 1
                continue
            outcome = await examiner.examine(item, passage)
            if isinstance(outcome, Proven):
                accepted, remaining = accepted + 1, remaining - 1
                await _check(outcome, scope, figures)
            else:
                figures.dropped[outcome.reason] += 1


async def _check(proven: Proven, scope: Scope, figures: Figures) -> None:
    figures.items += 1
    figures.verified += all(
        scope.texts[span.document_id - 1][span.start : span.end] == span.quote
        for span in proven.supports
    )
    item = proven.item
    if isinstance(item, Choice):
        wrong = [item.filled(n) for n in range(len(item.options)) if n != item.key]
        near = {text: await scope.near(text) for text in wrong}
        figures.stated += sum(
            any(spans_of(t, p) for p in figures_by_corpus) for t, figures_by_corpus in near.items()
        )
        figures.choices.append((proven, scope))
        figures.noticed.update(kind for kind, seen in noticed(proven, scope).items() if seen)
        figures.guessed.update(name for name, hit in guessed(item, scope).items() if hit)
    if item.kind in ("choice", "true_false"):
        figures.judged += 1
        if problems := judged(proven, scope):
            figures.failed.update(problems)
            figures.failures.append(_failure(problems, proven))


def _failure(problems: list[str], proven: Proven) -> str:
    item = proven.item
    options, key = getattr(item, "options", ""), getattr(item, "key", getattr(item, "truth", ""))
    quotes = " … ".join(span.quote for span in proven.supports)
    return f"{problems}: {getattr(item, 'statement', '')} {options} {key} | {quotes}"


async def _seeded(figures_by_corpus: dict[str, Figures], count: int) -> None:
    typer.echo("seeded as | items | rejected | as")
    corpora = list(figures_by_corpus.values())
    for kind in KINDS:
        reasons: Counter[str] = Counter()
        for number, figures in enumerate(corpora):
            foreign = [proven for proven, _ in corpora[(number + 2) % len(corpora)].choices]
            share = -(-count // len(corpora))
            for proven, scope in figures.choices[:share]:
                outcome = await examined(kind, proven, scope, foreign)
                reasons[getattr(outcome, "reason", "")] += 1
        total = sum(reasons.values())
        rejected = total - reasons.pop("", 0)
        typer.echo(
            f"{kind} | {total} | {rejected} ({rejected / max(total, 1):.3f}) | {dict(reasons)}"
        )


if __name__ == "__main__":
    typer.run(main)
