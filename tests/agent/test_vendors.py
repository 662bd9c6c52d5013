"""Models of the extras anthropic and ollama, by their own clients at the wire, drive the agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpx
import pytest

from helix.agent.tools import TOOLS
from helix.domain.contract import REFUSAL
from helix.settings.prompts import prompt
from tests.agent.test_stream import COMPARED, PARCELS, REFUND, named, text_of
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.query_service import events_of, post
from tests.support.scripted_server import Reply, ScriptedServer, scripted
from tests.support.wire import anthropic, ollama
from tests.support.wire.gemini import GeminiWire

MODELS = {"anthropic": "claude-sonnet-4-5", "ollama": "llama3.1"}
PATHS = {"anthropic": "/v1/messages", "ollama": "/api/chat"}
WIRES: dict[str, ModuleType] = {"anthropic": anthropic, "ollama": ollama}
SAID = "Refunds are accepted within 30 days [1]. Standard parcels take four working days [2]."
BEGUN = "Half a sentence of"
FAILURES = ("cut", "error", "no end", "length", "refused")


@dataclass(frozen=True)
class Vendor:
    """A served application whose model is at a vendor's wire; ``says`` makes that one's replies."""

    kind: str
    client: httpx.Client
    service: ScriptedServer
    says: Any

    def told(self, *replies: Reply, question: str = COMPARED) -> list[tuple[str, Any]]:
        """The events of an agent's answer to these replies, all of which have to be asked for."""
        self.service.replies = replies
        self.service.asked.clear()
        self.service.bodies.clear()
        response = post(self.client, question=question, mode="agent", stream=True)
        assert response.status_code == 200, response.text
        assert len(self.service.asked) == len(replies)
        return events_of(response.content)

    def searching(self, *queries: str, text: str = "") -> Reply:
        """A turn that searches for each query, all at once."""
        calls = (("search_library", {"query": query}) for query in queries)
        reply: Reply = self.says.calling(*calls, text=text)
        return reply

    def saying(self, text: str) -> Reply:
        reply: Reply = self.says.saying(text)
        return reply


@pytest.fixture(scope="module", params=MODELS)
def vendor(
    request: pytest.FixtureRequest, wire: GeminiWire, stored: dict[str, int],
    module_database_url: str,
) -> Iterator[Vendor]:  # fmt: skip
    """Questions are embedded at Gemini's wire, and the vendor's model does all else."""
    kind: str = request.param
    with ExitStack() as stack:
        service = stack.enter_context(scripted())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("ANTHROPIC_API_KEY", "sk-not-a-real-key")
        patch.setenv("ANTHROPIC_BASE_URL", service.url)
        patch.setenv("OLLAMA_HOST", service.url)
        client = stack.enter_context(
            live(
                module_database_url, llm=f"{kind}:{MODELS[kind]}", embedder="gemini",
                gemini_api_key="wire-test-key", retrieval_max_distance=0.8,
                answer_form="text",  # these replies are what is said, not blocks
            )
        )  # fmt: skip
        yield Vendor(kind, client, service, WIRES[kind])


def test_a_model_searches_reads_what_was_found_and_its_answer_is_cited(
    vendor: Vendor, module_database_url: str
) -> None:
    calls = vendor.searching(REFUND, PARCELS, text="I look for both.")
    events = vendor.told(calls, vendor.saying("DONE"), vendor.saying(SAID))
    ended = [each for each in named(events, "tool") if "milliseconds" in each]
    assert [(each["name"], each["arguments"], each["failure"]) for each in ended] == [
        ("search_library", {"query": REFUND}, None), ("search_library", {"query": PARCELS}, None),
    ]  # fmt: skip
    assert "".join(each["t"] for each in named(events, "thinking")) == "I look for both."
    assert text_of(events) == SAID
    assert events[-1][0] == "done" and events[-1][1]["agent"]["ended"] == "done"
    numbered = {source["n"]: source["chunk_id"] for source in named(events, "source")}
    (citations,) = named(events, "citations")
    assert {each["n"] for each in citations} == {1, 2}
    for each in citations:
        assert each["chunk_id"] == numbered[each["n"]] and each["quote"]
        select = "SELECT text FROM documents WHERE id = %s"
        (text,) = rows(module_database_url, select, each["document_id"])[0]
        assert text[each["start"] : each["end"]] == each["quote"]


def test_what_a_model_is_sent_has_its_tools_and_each_calls_own_result(vendor: Vendor) -> None:
    calls = vendor.searching(REFUND, PARCELS)
    vendor.told(calls, vendor.saying("DONE"), vendor.saying(SAID))
    asked = [(method, path) for method, path, _ in vendor.service.asked]
    assert asked == [("POST", PATHS[vendor.kind])] * 3
    bodies = [json.loads(body) for body in vendor.service.bodies]
    assert [(body["model"], body["stream"]) for body in bodies] == [(MODELS[vendor.kind], True)] * 3
    assert [bool(body.get("tools")) for body in bodies] == [True, True, False]
    assert (
        vendor.says.described(bodies[0])
        == vendor.says.described(bodies[1])
        == {tool.name: prompt(f"tool_{tool.name}") for tool in TOOLS if tool.name != "fetch_page"}
    )
    refund, parcels = vendor.says.results(bodies[1])
    assert "within 30 days" in refund[1] and "four working days" in parcels[1]
    if vendor.kind == "anthropic":
        assert (refund[0], parcels[0]) == ("toolu_0", "toolu_1")


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("searched", [False, True], ids=["first turn", "behind a search"])
def test_a_gathering_that_breaks_is_kept_as_failed_and_its_text_is_no_answer(
    vendor: Vendor, failure: str, searched: bool
) -> None:
    turns = [vendor.searching(REFUND, PARCELS)] if searched else []
    events = vendor.told(*turns, vendor.says.broken(BEGUN)[failure], vendor.saying(SAID))
    assert events[-1][0] == "done" and events[-1][1]["agent"]["ended"] == "failed"
    assert text_of(events) == SAID


@pytest.mark.parametrize("failure", FAILURES)
def test_a_gathering_that_breaks_and_has_found_nothing_is_an_error_and_no_refusal(
    vendor: Vendor, failure: str
) -> None:
    broken = vendor.says.broken(BEGUN)[failure]
    events = vendor.told(broken, question="Who won the chess tournament of Oslo?")
    assert events[-1][0] == "error" and text_of(events) == ""
    assert REFUSAL not in str(events) and not named(events, "citations")


def test_a_call_whose_arguments_are_cut_is_not_made(vendor: Vendor) -> None:
    cut = vendor.says.call_cut("search_library", '{"query": "working days to Nor')
    events = vendor.told(cut, vendor.saying(SAID))
    made = [each["arguments"]["query"] for each in named(events, "tool")]
    assert {*made} == {COMPARED}  # the search that the agent makes where no tool was called
    assert events[-1][1]["agent"]["ended"] == "failed"


@pytest.mark.parametrize("failure", FAILURES)
def test_an_answer_that_breaks_is_an_error_and_never_complete(vendor: Vendor, failure: str) -> None:
    broken = vendor.says.broken("Refunds are accepted within")[failure]
    events = vendor.told(vendor.searching(REFUND), vendor.saying("DONE"), broken)
    assert events[-1][0] == "error" and list(events[-1][1]) == ["error"]
    assert not named(events, "citations") and not named(events, "done")
