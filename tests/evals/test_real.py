"""Real runs: which questions, when an answer is right, what is kept, and the table of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.cases import Case
from evals.database import ingest
from evals.real.answers import Answers, KeptAnswer, Key
from evals.real.judged_answer import is_proved_as_marked
from evals.real.question_run import OFFLINE, SCHEMA, TEXT, Answerer, ask_missing
from evals.real.questions import RealQuestion, load_suites, shuffled
from evals.real.report import speed, table, tokens_a_second
from helix.domain.contract import REFUSAL
from helix.services import Services, open_services
from helix.settings import load_settings
from tests.support.live_server import OFFLINE as OFFLINE_SETTINGS

TOP_K = 3


def _question(
    suite: str = "golden", *, figures: tuple[float, ...] = (), **case: object
) -> RealQuestion:
    values: dict[str, object] = {"id": "one", "question": "How much?", **case}
    return RealQuestion(suite, Case.model_validate(values), figures)


def _kept(key: Key, **values: Any) -> KeptAnswer:
    return replace(KeptAnswer(key, "Said.", None, 1.0, 3.0, True, "m", None), **values)


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (_question(keywords=("30 days", "purchase")), "30 days from purchase [1].", True),
        (_question(keywords=("30 days", "purchase")), "30 days.", False),
        (_question(keywords=("30 days",), forbidden=("60",)), "30 days, or 60.", False),
        (_question("squad2", golds=("the Rhine", "Rhine")), "It is the Rhine.", True),
        (_question("squad2", golds=("Rhine",)), "It is the Rhineland.", False),
        (_question("sec10q", figures=(81_797e6,)), "Net sales were $81,797 million [2].", True),
        (
            _question("sec10q", figures=(81_797e6, 2_000.0)),
            "Net sales were $81,797 million.",
            False,
        ),
        (_question("sec10q", figures=(81_797e6, 2_000.0)), "81,797 million and 2,000.", True),
    ],
)
def test_an_answer_is_right_that_says_what_was_published(
    question: RealQuestion, answer: str, right: bool
) -> None:
    assert question.is_right(answer, abstained=False) is right
    assert not question.is_right(REFUSAL, abstained=True)


def test_a_question_without_an_answer_is_to_be_refused() -> None:
    question = _question(refusal=True)
    assert question.is_right(REFUSAL, abstained=True)
    assert not question.is_right("It costs 9.90 euros.", abstained=False)


def _public_sets(data: Path) -> None:
    (data / "squad2").mkdir(parents=True)
    (data / "sec10q").mkdir()
    asked: list[dict[str, Any]] = [
        {"question": f"Where is {n}?", "answers": [{"text": "Rhine", "answer_start": 4}]}
        for n in range(100)
    ]
    asked += [
        {"question": f"Who is {n}?", "answers": [], "is_impossible": True} for n in range(100)
    ]
    article = {"title": "Rhine", "paragraphs": [{"context": "The Rhine.", "qas": asked}]}
    (data / "squad2/dev-8-articles.json").write_text(json.dumps({"data": [article]}))
    rows = [
        f'Revenue of {n}?,"It was $5,{n:03} million. SOURCE(S): 2,999 million"' for n in range(90)
    ]
    rows.append("Why?,Because.")
    (data / "sec10q/qna_data.csv").write_text("\n".join(["Question,Answer", *rows]))


def test_questions_are_drawn_by_a_fixed_seed(tmp_path: Path) -> None:
    _public_sets(tmp_path / "data")
    drawn = [shuffled(load_suites(tmp_path / "data", tmp_path / str(time))) for time in range(2)]
    assert drawn[0] == drawn[1]
    squad = [one for one in drawn[0] if one.suite == "squad2"]
    assert sum(one.case.refusal for one in squad) == 30 and len(squad) == 100
    reports = [one for one in drawn[0] if one.suite == "sec10q"]
    assert len(reports) == 60 and all(len(one.figures) == 1 for one in reports)
    assert {one.suite for one in drawn[0][:30]} == {"golden", "squad2", "sec10q"}
    assert (tmp_path / "0/squad2/Rhine-0.txt").read_text() == "The Rhine.\n\n"


def test_answers_outlive_a_run_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    first, second = (Key("m", form, "golden", "one", "f") for form in (TEXT, SCHEMA))
    Answers(file).keep(_kept(first))
    Answers(file).keep(_kept(first, text="Said later."))
    with file.open("a") as output:
        output.write('{"key": ["m", "sch')
    answers = Answers(file)
    assert first in answers and second not in answers
    assert [one.text for one in answers] == ["Said later."]


@pytest.fixture
async def services(module_durable_database_url: str) -> AsyncIterator[Services]:
    """The services over a database that has the samples."""
    settings = load_settings(
        database_url=module_durable_database_url, **OFFLINE_SETTINGS, workers=0
    )
    golden = load_suites(None, Path())[0]
    await asyncio.to_thread(ingest, settings, golden.suite)
    async with open_services(settings) as opened:
        yield opened


def _golden(name: str) -> RealQuestion:
    return next(one for one in load_suites(None, Path())[0].questions if one.id == name)


async def test_what_was_asked_is_not_asked_again(services: Services, tmp_path: Path) -> None:
    answers, question = Answers(tmp_path / "answers.jsonl"), _golden("refund-window")
    answerer = Answerer(OFFLINE, TEXT, TOP_K, services)
    (kept,) = await ask_missing(question, [answerer], answers)
    assert await ask_missing(question, [answerer], answers) == []
    assert "30 days" in kept.text and not kept.beside and 0 < kept.first <= kept.whole
    judged = await answerer.judged(question, kept)
    assert judged.answered and judged.is_right and judged.cites
    assert judged.statements and all(map(is_proved_as_marked, judged.statements))


async def test_a_table_counts_the_questions_that_all_were_asked(services: Services) -> None:
    answerer, question = Answerer("m", TEXT, TOP_K, services), _golden("refund-window")
    statement = "Refunds are accepted within 30 days of purchase."
    judged = [
        await answerer.judged(question, _kept(answerer.key(question), **values))
        for values in (
            {"text": statement}, {"text": f"{statement} [1] It is a gift. [1]"},
            {"text": REFUSAL}, {"text": "", "error": "cut"},
        )
    ]  # fmt: skip
    by_proof, marked, refused, cut = judged
    lines = list(table(["one", "other"], [[by_proof, marked], [refused, cut], [refused, None]]))
    cells = {
        line.split(" | ")[0][2:]: [cell.split(":")[0] for cell in line.strip("| ").split(" | ")[1:]]
        for line in lines[2:]
    }
    assert cells == {
        "golden: right, of the answerable": ["1 of 2", "1 of 2"],
        "golden: answered, of the answerable": ["1 of 2", "1 of 2"],
        "golden: answers with a citation of its own": ["0 of 1", "1 of 1"],
        "golden: statements with a marker of its own": ["0 of 1", "2 of 2"],
        "golden: borne out by the sources it names": ["0 of 1", "1 of 2"],
        "golden: borne out, by sources that Helix finds too": ["1 of 1", "1 of 2"],
        "golden: broke off": ["0 of 2", "1 of 2"],
    }


def test_speed_compares_the_forms_of_one_question() -> None:
    text = _kept(Key("m", TEXT, "s", "q", "f"), tokens={"output_tokens": 21})
    schema = replace(text, first=1.1, whole=2.1)
    assert tokens_a_second(text) == 10
    assert tokens_a_second(replace(text, tokens=None)) is None
    assert list(speed([(text, schema)])) == [
        "first token, p50 of 1: text 1.00, schema 1.10",
        "schema by text, p50 of the ratios 1.100, the greatest 1.100",
        "tokens a second behind the first, p50, text: 10.00",
        "tokens a second behind the first, p50, schema: 20.00",
    ]
