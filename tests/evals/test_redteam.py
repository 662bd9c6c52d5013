"""The red team holds against Helix as it is, and catches builds that are broken on purpose."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import psycopg
import pytest
import pytest_asyncio

import helix.domain.prompt
from evals.redteam import PROBES, Result, attack, own_settings, report, run_probe, run_probes
from evals.redteam_probes.target import KEY, Failed, Probe, Target, open_target
from helix.agent.tool import ToolContext
from helix.domain.scope import Scope
from helix.storage import searches
from helix.storage.statements import attachments

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOME = {
    "plain", "BEGIN SOURCES again", "deleted", "by answer id", "row-level security alone",
    "predicates alone, hybrid", "image", "marker without a source", "in any response or log line",
    "closed history", "search_library: a tenant, a scope", "fetch_page: a fetch",
    "by asking elsewhere", "after it was deleted",
}  # fmt: skip
"""Of each sort one; `make redteam` has them all."""
WALLED = ("documents", "chunks", "chunk_terms", "answers", "feedback")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _target(module_database_url: str) -> AsyncIterator[Target]:
    async with open_target(own_settings(module_database_url)) as target:
        yield target


@pytest.fixture
def target(_target: Target) -> Target:
    """The one that all tests share, which has heard nothing yet."""
    _target.responses.clear()
    _target.logged.clear()
    return _target


def some(*names: str) -> list[Probe]:
    return [probe for probe in PROBES if probe.name in (names or SOME)]


def through(results: list[Result]) -> set[str]:
    return {result.name for result in results if result.outcome == "fail"}


async def test_the_build_as_it_is_holds(target: Target) -> None:
    results = await run_probes(target, some())
    assert len(results) == len(SOME)
    assert [(one.name, one.problem) for one in results if one.outcome != "pass"] == []


@pytest.mark.soak
async def test_it_holds_against_all_of_them(database_url: str) -> None:
    assert through(await attack(own_settings(database_url))) == set()


def _without_tenant(sql_of: Callable[..., str]) -> Callable[..., str]:
    return lambda *arguments: re.sub(
        r"(\w+\.)?tenant_id = %\(tenant\)s", "true", sql_of(*arguments)
    )


async def test_a_dropped_tenant_predicate_is_caught_though_the_policies_hold(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dense_statement", "hybrid_statement"):
        monkeypatch.setattr(searches, name, _without_tenant(getattr(searches, name)))
    probes = some("by question", "predicates alone, dense", "predicates alone, hybrid")
    results = await run_probes(target, probes)
    assert [one.problem for one in results] == ["", *["the search itself finds it"] * 2]


async def test_dropped_policies_are_caught_though_the_predicates_hold(
    target: Target, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        for table in WALLED:
            connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
        try:
            results = await run_probes(target, some("by question", "row-level security alone"))
        finally:
            for table in WALLED:
                connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    assert through(results) == {"row-level security alone"}


async def test_undefused_chunks_are_caught(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helix.domain.prompt, "defuse", lambda text: text)
    names = ("END SOURCES", "a source of its own", "END SOURCES in the question", "plain")
    results = await run_probes(target, some(*names))
    assert through(results) == set(names) - {"plain"}


async def test_a_tool_that_takes_any_document_is_caught(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def anywhere(context: ToolContext, document_id: int) -> Scope:
        return replace(context.scope, document_ids=(document_id,))

    monkeypatch.setattr("helix.agent.tools.documents.narrowed", anywhere)
    results = await run_probes(target, some("search_library: ids of others"))
    assert [one.problem for one in results] == ["the order was taken"]


async def test_words_that_outlive_their_attachment_are_caught(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "FORGET", "SELECT 1")
    results = await run_probes(target, some("by asking elsewhere", "after it was deleted"))
    assert through(results) == {"after it was deleted"}


async def test_guards_that_are_off_are_caught(database_url: str) -> None:
    settings = own_settings(database_url).model_copy(update={"guards": ()})
    results = await attack(settings, some("plain", "image", "bare URL", "marked refusal"))
    assert through(results) == {"plain", "image", "bare URL"}


async def test_an_open_gate_is_caught(database_url: str) -> None:
    settings = own_settings(database_url).model_copy(update={"retrieval_max_distance": 2.0})
    assert through(await attack(settings, some("foreign question"))) == {"foreign question"}


async def test_a_key_that_comes_out_is_caught(target: Target) -> None:
    async def leak(target: Target) -> None:
        target.responses.append(f"it is {KEY}")
        logging.getLogger("helix").info("one line")

    probes = [Probe("test", "leak", leak), *some("in any response or log line")]
    results = await run_probes(target, probes)
    assert [one.problem for one in results] == ["", "the key is in a response"]


async def test_what_is_known_does_not_fail_the_build_and_a_broken_probe_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails(_: Target) -> None:
        raise Failed("it got through")

    async def breaks(_: Target) -> None:
        raise ZeroDivisionError("oh")

    known = Probe("test", "known", fails, known_problem="by design")
    nowhere = cast(Target, None)  # neither looks at it
    results = [await run_probe(one, nowhere) for one in (known, Probe("test", "broken", breaks))]
    assert report(results[:1], 0.1, None) == 0
    assert report(results, 0.1, tmp_path / "results.json") == 1
    written = json.loads((tmp_path / "results.json").read_text())
    assert [one["outcome"] for one in written] == ["known", "fail"]
    assert "| test | broken | fail | the probe broke (ZeroDivisionError: oh) |" in (
        capsys.readouterr().out
    )


async def test_a_history_that_is_not_defused_is_got_through(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix.domain.history.defused", lambda text: text)
    names = {"closed history", "speaker", "a carriage return"}
    assert through(await run_probes(target, some(*names))) == names
