"""Relevance, refusals and suggested scopes in the page, as a stream tells them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, fits, serious

REFUSED = "I don't have that in the provided documents."
QUESTION = "How many people does Helix employ?"
SENTENCE = "Refunds are accepted within 30 days of purchase."
DEBUG = {
    "gate": {"ceiling": 0.72, "best": 0.3, "by_name": False}, "sources": [], "terms": [],
    "candidates": {"near": [], "lexical": [], "fused": []},
    "seconds": {"embed": 0.01, "search": 0.01, "model": 0.01, "total": 0.03},
    "tokens": {"context": 100, "answer": 10},
}  # fmt: skip


@pytest.fixture
def policy(site: str) -> dict[str, Any]:
    return document_of(site, "refund-policy")


def document_of(site: str, name: str) -> dict[str, Any]:
    """A document by its source, with its text and chunks."""
    found = httpx.get(f"{site}/v1/documents", params={"q": name}).json()["documents"]
    whole: dict[str, Any] = httpx.get(f"{site}/v1/documents/{found[0]['id']}").json()
    return whole


def tell(page: Page, text: str, **done: object) -> list[dict[str, Any]]:
    """Answer each question with ``text`` and this end; the requests, as they come."""
    asked: list[dict[str, Any]] = []
    end = {"answer_id": None, "abstained": False, "reason": None, "clarifying_question": None}
    citations = done.pop("citations", [])
    frames = [("token", {"t": text}), ("citations", citations), ("done", end | done)]
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in frames)

    def answer(route: Any) -> None:
        asked.append(json.loads(route.request.post_data))
        route.fulfill(body=body, content_type="text/event-stream")

    page.route("**/messages", answer)
    return asked


def at(policy: dict[str, Any], text: str) -> dict[str, Any]:
    """The keys of a citation of ``text``."""
    start = policy["text"].index(text)
    return {
        "chunk_id": policy["chunks"][0]["id"], "document_id": policy["id"], "heading_path": [],
        "title": policy["title"], "page": 12, "label": "page 12 (printed 9)", "start": start,
        "end": start + len(text), "quote": text, "snippet": text,
    }  # fmt: skip


def test_a_quote_that_is_beside_the_question_says_so(page: Page, policy: dict[str, Any]) -> None:
    statement = {
        "start": 0, "end": len(SENTENCE), "supported": True, "problem": None, "relevant": False,
        "reason": "quoted, but not about Helix's employees",
    }  # fmt: skip
    citation = {"n": 1, **at(policy, SENTENCE)}
    support = {"ratio": 1.0, "statements": [statement]}
    tell(page, f"{SENTENCE} [1]", citations=[citation], support=support)
    ask(page, QUESTION)
    expect(page.locator(".unsupported.beside").first).to_contain_text("Refunds are accepted")
    expect(page.locator(".support-note")).to_contain_text("not about what was asked")
    page.get_by_role("button", name="Off-topic sentence: why?").click()
    expect(page.locator(".flag-why")).to_have_text("quoted, but not about Helix's employees")
    expect(page.locator(".sources")).to_contain_text("page 12 (printed 9)")
    assert serious(page) == []


def test_a_refusal_says_what_is_known_and_opens_at_the_sentence(
    page: Page, policy: dict[str, Any]
) -> None:
    window = f"🦓 {SENTENCE}"
    place = window.index("Refunds")
    passage = {
        **at(policy, SENTENCE), "text": window, "marks": [[place, place + 7]], "likely": False,
    }  # fmt: skip
    meant = f'Do you mean something in "{passage["title"]}"?'
    asked = tell(
        page, REFUSED, abstained=True, reason="model_refused", closest=[passage],
        reason_text="1 passage mentions Helix; none was judged to answer.",
        clarifying_question=meant,
    )  # fmt: skip
    ask(page, QUESTION)
    expect(page.locator(".refusal")).to_contain_text("1 passage mentions Helix")
    expect(page.locator(".closest mark")).to_have_text("Refunds")
    expect(page.locator(".closest button")).to_contain_text("page 12 (printed 9)")
    page.locator(".closest button").click()
    expect(page.locator(".source mark.quote")).to_have_text(SENTENCE)
    page.get_by_label("Close the source").click()
    page.get_by_role("button", name=meant).click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".closest")).to_have_count(2)
    assert asked[1]["question"] == QUESTION
    assert asked[1]["document_ids"] == [passage["document_id"]]
    expect(page.get_by_text(meant)).to_have_count(2)
    expect(page.get_by_role("button", name=meant)).to_have_count(1)  # asked of it already
    page.get_by_role("button", name="Ask the agent").first.click()
    expect(page.locator(".closest")).to_have_count(3)
    assert asked[2]["mode"] == "agent" and asked[2]["question"] == QUESTION
    assert serious(page) == []
    assert fits(page)


def test_a_passage_that_may_answer_is_not_called_no_answer(
    page: Page, policy: dict[str, Any]
) -> None:
    passages = [
        {**at(policy, SENTENCE), "text": text, "marks": [], "likely": likely, "chunk_id": n}
        for n, (text, likely) in enumerate((("Only close.", False), (SENTENCE, True)))
    ]
    tell(page, REFUSED, abstained=True, reason="model_refused", closest=passages)
    ask(page, QUESTION)
    expect(page.get_by_label("This may still answer it")).to_contain_text(SENTENCE)
    others = page.get_by_label("Closest, but not an answer")
    expect(others).to_contain_text("Only close.")
    expect(others).not_to_contain_text(SENTENCE)
    assert serious(page) == []


def test_a_source_card_has_the_words_of_a_link(page: Page, policy: dict[str, Any]) -> None:
    quote = "See [the rules](https://rules.example/a) and:\n```sh\nsend back 7"
    citation = {"n": 1, **at(policy, SENTENCE), "quote": quote}
    tell(page, "It is in the rules. [1]", citations=[citation])
    ask(page, QUESTION)
    expect(page.locator(".sources .passage-text")).to_have_text("See the rules and: send back 7")


def test_a_question_back_about_a_thing_is_read_and_replied_to(page: Page) -> None:
    which = 'Which actor do you mean? The closest passages are in "Hamlet" and "Macbeth".'
    asked = tell(page, REFUSED, abstained=True, reason="underspecified", clarifying_question=which)
    ask(page, "What did the actor say?")
    expect(page.locator(".refusal .which")).to_have_text(which)
    expect(page.get_by_role("button", name="Which actor")).to_have_count(0)
    ask(page, "The one in Hamlet")
    expect(page.locator(".refusal")).to_have_count(2)
    assert asked[1]["question"] == "The one in Hamlet"
    assert serious(page) == []


def test_a_suggested_scope_asks_the_same_of_fewer_documents(
    page: Page, policy: dict[str, Any]
) -> None:
    only = [{"document_id": policy["id"], "title": policy["title"]}]
    support: dict[str, Any] = {"ratio": None, "statements": []}
    asked = tell(page, "Forty.", suggested_scope=only, support=support)
    ask(page, QUESTION)
    page.get_by_role("group", name="Ask fewer documents").get_by_text("Refund Policy").click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".chosen")).to_contain_text("Refund Policy")
    expect(page.locator(".actions")).to_have_count(2)
    assert [one["question"] for one in asked] == [QUESTION, QUESTION]
    assert asked[1]["document_ids"] == [policy["id"]]
    # what is asked alone already is not suggested again
    expect(page.locator(".suggested")).to_have_count(1)


@pytest.mark.parametrize(
    ("probability", "noted", "told"),
    [(0.31, 1, "may answer"), (0.72, 0, "may answer"), (0.94, 0, "likely answers")],
)
def test_how_likely_an_answer_is_what_was_asked(
    page: Page, policy: dict[str, Any], probability: float, noted: int, told: str
) -> None:
    statement = {
        "start": 0, "end": len(SENTENCE), "supported": True, "problem": None, "status": "quoted",
        "relevant": probability >= 0.9, "reason": None,
    }  # fmt: skip
    answers = {"probability": probability, "likely": probability >= 0.9}
    support = {"ratio": 1.0, "answers": answers, "statements": [statement]}
    citation = {"n": 1, **at(policy, SENTENCE)}
    tell(page, f"{SENTENCE} [1]", citations=[citation], support=support, debug=DEBUG)
    ask(page, QUESTION)
    expect(page.locator(".sources")).to_contain_text("page 12")
    expect(page.locator(".support-note")).to_have_count(noted)
    expect(page.locator(".unsupported")).to_have_count(0)
    page.get_by_role("button", name="Why this answer").click()
    checks = page.locator(".checks")
    expect(checks).to_contain_text(f"Answers the question: {told}")
    expect(checks.locator(".poor")).to_have_count(int(probability < 0.9))
    expect(page.locator(".sentences")).to_have_count(0)  # they are quotes: a line says so
    expect(checks).to_contain_text("quoted word for word")
    told_number = f"Of 100 answers like this one about {round(probability * 100)} are"
    expect(page.get_by_text(told_number)).to_be_hidden()
    page.get_by_text("Scores and timings").click()
    expect(page.get_by_text(told_number)).to_be_visible()


@pytest.mark.parametrize(
    ("probability", "words", "green"),
    [(0.95, "very likely says so", 2), (0.8, "which likely says so", 1), (0.45, "may say so", 1)],
)
def test_how_likely_a_sentence_in_other_words_holds(
    page: Page, policy: dict[str, Any], probability: float, words: str, green: int
) -> None:
    statement = {
        "start": 0, "end": len(SENTENCE), "supported": True, "problem": None, "relevant": True,
        "status": "borne out", "probability": probability, "reason": None,
    }  # fmt: skip
    answers = {"probability": 0.94, "likely": True}
    support = {"ratio": 1.0, "answers": answers, "statements": [statement]}
    tell(page, f"{SENTENCE} [1]", citations=[{"n": 1, **at(policy, SENTENCE)}], support=support,
         debug=DEBUG)  # fmt: skip
    ask(page, QUESTION)
    page.get_by_role("button", name="Why this answer").click()
    expect(page.locator(".sentences")).to_contain_text(SENTENCE)
    expect(page.locator(".sentences")).to_contain_text(words)
    verdicts = page.locator(".checks .good").filter(has_text="Supported")
    answers_it = page.locator(".checks .good").filter(has_text="Answers the question")
    expect(verdicts.or_(answers_it)).to_have_count(green)
    assert serious(page) == []
