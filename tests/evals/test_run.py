"""``python -m evals.run`` over the samples, builds that were broken on purpose, and feedback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from db.embedded_postgres import default_directory
from evals import from_feedback
from evals.cases import load_cases, located
from evals.database import ingest, settings_of_run, stored
from evals.report.data import BASELINE
from evals.run import main, measure
from evals.suites import GOLDEN, SUITES, Suite, SuiteOptions
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.conversations.receipts.receipt_store import rate
from helix.domain.contract import REFUSAL
from helix.domain.gate import GateDecision
from helix.domain.scope import Scope
from helix.providers.offline import answerer
from helix.providers.offline.extract import answer_of
from helix.retrieval import gated_retriever as retriever
from helix.services import Services, open_services
from helix.serving.routes.operations import last_report_file
from helix.settings import Settings, load_settings

pytestmark = pytest.mark.processes  # each run reads its samples by a host of its own

QUESTION = "How many characters must a password have?"
SALARY = "On which day is the salary paid?"
WARRANTY = "How long is the warranty on electrical items?"


@pytest.fixture(scope="module")
def settings(module_durable_database_url: str) -> Settings:
    return load_settings(
        database_url=module_durable_database_url, llm="offline", embedder="offline", workers=0
    )


@pytest.fixture(scope="module")
def suite(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The golden set, its samples stored by the real pipeline."""
    made = SUITES[GOLDEN](SuiteOptions(None, tmp_path_factory.mktemp("suite"), 10))
    ingest(settings, made)
    return made


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    for name in ("GEMINI_API_KEY", "HELIX_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "DATABASE_URL": settings.database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)


def test_the_command_asks_and_writes_every_report(
    suite: Suite, environment: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("json", "html", "markdown", "baseline", "last")
    files = {name: tmp_path / name for name in names}
    given = [text for name in names[:3] for text in (f"--{name}", str(files[name]))]
    given += ["--tag", "table", "--last", str(files["last"]), "--baseline", str(files["baseline"])]
    assert main([*given, "--save-baseline"]) == 0
    assert main(given) == 0
    printed = capsys.readouterr().out
    assert "report-flow-sensors" in printed and "citation precision" in printed
    assert "as the baseline" in printed
    report = json.loads(files["json"].read_text())
    assert {case["id"] for case in report["cases"]} == {
        case.id for case in suite.cases if "table" in case.tags
    }
    assert report["failed"] == [] and report["judges"] == ["offline"]
    assert report["comparison"] == {
        "worse": [], "better": [], "new": [], "missing": [], "settings": [],
    }  # fmt: skip
    assert files["html"].read_text().startswith("<!doctype html>")
    assert files["markdown"].read_text().startswith("### evals: golden, passed")
    assert not files["last"].exists(), "some cases are not the whole set"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--tag", "nothing"], "no case has the tag nothing"),
        (["--suite", "squad2"], "say where with --data DIR"),
        (["--judge", "model"], "set GEMINI_API_KEY, or HELIX_JUDGE"),
        (["--baseline", "no-such-file"], "no-such-file cannot be read"),
        (["--cases", "no-such-file"], "no-such-file cannot be read"),
        (["--suite", "covidqa", "--data", "no-such-folder"], "no-such-folder is no folder"),
        (["--limit", "-1"], "--limit is at least 1"),
        (["--html", "no-such-folder/page.html"], "no-such-folder/page.html cannot be written"),
        (["--save-baseline", "--tag", "smoke"], "say with --baseline FILE"),
        (["--save-baseline", "--cases", "mine.json"], "say with --baseline FILE"),
        (["--save-baseline", "--suite", "squad2", "--data", "."], "say with --baseline FILE"),
        (["--baseline", str(BASELINE), "--tenant", "acme"], "is of the suite golden"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line_before_anything_is_ingested(
    given: list[str],
    said: str,
    environment: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert main(given) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("evals: ")]
    assert len(lines) == 1 and said in lines[0]


def test_a_missed_minimum_fails_the_command(
    suite: Suite, environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIN_RECALL", "1")
    monkeypatch.setenv("MIN_ANSWERED", "0.5")
    report = tmp_path / "report.json"
    assert main(["--tag", "paraphrased", "--json", str(report)]) == 1
    (failed,) = json.loads(report.read_text())["failed"]
    assert re.fullmatch(r"recall@k 0\.\d+ is below MIN_RECALL=1", failed)


def test_a_run_has_a_database_of_its_own_whatever_env_file_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DATABASE_URL", "GEMINI_API_KEY", "HELIX_LLM", "HELIX_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("DATABASE_URL=postgresql://somebody/else\n")
    with settings_of_run() as own:
        kind, _, folder = own.database_url.partition(":")
        assert (kind, own.llm, own.embedder) == ("embedded", "offline", "offline")
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_the_last_report_lies_beside_the_embedded_database() -> None:
    assert last_report_file() == default_directory().parent / "evals" / "last.json"


# --- builds broken on purpose: each fails, and by its own measure


async def _failed(settings: Settings, suite: Suite) -> list[str]:
    """The minima that a third of the smoke cases, of each sort some, miss."""
    smoke = [case for case in suite.cases if "smoke" in case.tags]
    run = await measure(settings, replace(suite, cases=smoke[::3]), judge="offline")
    return [name for line in run.failed for name in re.findall(r"(MIN_[A-Z]+)=", line)]


async def test_the_build_as_it_is_fails_nothing(suite: Suite, settings: Settings) -> None:
    assert await _failed(settings, suite) == []


async def test_without_the_gate_the_refusals_fall(
    suite: Suite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> GateDecision:
        return GateDecision(passed=True, best=0.1)

    monkeypatch.setattr(retriever, "decide", opened)
    assert await _failed(settings, suite) == ["MIN_GATE"]


async def test_an_answerer_that_refuses_everything_fails(
    suite: Suite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answerer, "answer_of", lambda *_: REFUSAL)
    assert await _failed(settings, suite) == [
        "MIN_ANSWERED", "MIN_FAITHFULNESS", "MIN_CITATIONS", "MIN_CITATIONS",
    ]  # fmt: skip


async def test_markers_off_by_one_fail_by_their_citations(
    suite: Suite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[[Any, float], str] = answer_of

    def shifted(reading: Any, risk: float) -> str:
        return re.sub(r"\[(\d+)\]", lambda n: f"[{int(n[1]) + 1}]", real(reading, risk))

    monkeypatch.setattr(answerer, "answer_of", shifted)
    assert await _failed(settings, suite) == ["MIN_CITATIONS", "MIN_CITATIONS"]


# --- feedback


async def _answered(
    services: Services, question: str, suite: Suite, within: str | None = None
) -> dict[str, Any]:
    scope = Scope(suite.tenant, source_prefix=within)
    return await AnswerRequest(services.answering, Question(question, scope)).run_json()


async def _vote(services: Services, suite: Suite, answer_id: str, up: bool, note: str) -> None:
    rating = "up" if up else "down"
    library = services.library.of(suite.tenant)
    await library.change(
        lambda connection: rate(connection, answer_id, rating, note, 30, suite.tenant)  # type: ignore[arg-type]
    )


async def test_votes_become_cases_that_can_be_run(
    suite: Suite, settings: Settings, tmp_path: Path
) -> None:
    async with open_services(settings) as services:
        good = await _answered(services, QUESTION, suite)
        refused = await _answered(services, "What is the capital of Mongolia?", suite)
        bad = await _answered(services, "How long is the probation period?", suite)
        await _answered(services, "When is the canteen open?", suite)
        scoped = await _answered(services, SALARY, suite, "samples/onboarding")
        nowhere = await _answered(services, WARRANTY, suite, "samples/travel")
        assert refused["answer"] == nowhere["answer"] == REFUSAL
        await _vote(services, suite, good["answer_id"], False, "too late to tell")
        await _vote(services, suite, good["answer_id"], True, "")
        await _vote(services, suite, refused["answer_id"], True, "")
        await _vote(services, suite, bad["answer_id"], False, "wrong")
        await _vote(services, suite, scoped["answer_id"], True, "")
        await _vote(services, suite, nowhere["answer_id"], True, "")
        documents = await stored(services, suite)
        cases = await from_feedback.cases_of(settings, suite.tenant)
        assert await from_feedback.cases_of(settings, "somebody-else") == []
    found = {case.question: case for case in cases}
    assert len(found) == len(cases) == 5
    assert found[SALARY].scope.of("t") == Scope("t", source_prefix="samples/onboarding")
    assert not found[SALARY].review and found[WARRANTY].review and not found[WARRANTY].refusal
    case = found[QUESTION]
    assert (case.id, case.tags) == (f"feedback-{good['answer_id']}", ("feedback", "up"))
    (span,) = located([case], documents.texts)[case.id]
    quote = documents.texts[span.source][span.start : span.end]
    assert quote == good["citations"][0]["quote"] and "at least 14 characters" in quote
    assert found["What is the capital of Mongolia?"].refusal
    waiting = found["How long is the probation period?"]
    assert (waiting.review, waiting.note, waiting.passages) == (True, "down: wrong", ())
    path = tmp_path / "cases.json"
    from_feedback.write_cases(path, list(found.values()))
    assert from_feedback.merged(path, list(found.values())) == load_cases(path)
    asked = Suite("stored", tmp_path, None, load_cases(path), suite.tenant)
    run = await measure(settings, asked, judge="offline")
    assert [outcome.faults for outcome in run.outcomes] == [[], [], []], "what waits is not run"


async def test_a_changed_passage_is_to_be_reviewed(suite: Suite, settings: Settings) -> None:
    async with open_services(settings) as services:
        answer = await _answered(services, "How long are backups kept?", suite)
        await _vote(services, suite, answer["answer_id"], True, "")
    (citation,) = answer["citations"]
    with psycopg.connect(settings.database_url) as connection:
        connection.execute(
            "UPDATE answers SET receipt = jsonb_set(receipt, '{citations,0,start}', %s)"
            " WHERE id = %s",
            (json.dumps(citation["start"] + 1), answer["answer_id"]),
        )
    cases = await from_feedback.cases_of(settings, suite.tenant)
    (case,) = (case for case in cases if case.question == "How long are backups kept?")
    assert case.review and not case.passages
