"""Imported answers, which a person may have written, as readers of a share are shown them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.serving.accounts.sharing.conftest import ASKED_OPEN, ASKED_SECRET, SECRET, Shared, alone

FORGED = "Refunds are accepted within a thousand days."


def exported(shared: Shared, question: str) -> dict[str, Any]:
    conversation, _ = alone(shared.ada, question)
    return dict(shared.ada.get(f"/v1/conversations/{conversation}/export").json())


def imported(shared: Shared, export: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The conversation that it makes, and its one message."""
    made = shared.ada.post("/v1/conversations/import", json=export)
    assert made.status_code == 201, made.text
    conversation = made.json()["id"]
    (message,) = shared.ada.get(f"/v1/conversations/{conversation}").json()["path"]
    return conversation, message


def secret_of(export: dict[str, Any]) -> int:
    """The document that its answer cites."""
    (cited,) = export["messages"][0]["response"]["citations"]
    return int(cited["document_id"])


def test_a_forged_proof_and_quote_are_shown_to_nobody(shared: Shared) -> None:
    export = exported(shared, ASKED_OPEN)
    response = export["messages"][0]["response"]
    (true_one,) = response["citations"]
    (statement,) = response["support"]["statements"]
    statement["spans"][0]["quote"] = FORGED
    forged = true_one | {"n": 2, "quote": FORGED, "snippet": FORGED, "title": "The law"}
    misnamed = true_one | {"n": 3, "title": "The law", "label": "article 1", "heading_path": 7}
    response |= {"answer": f"{FORGED} [1][2][3]", "citations": [true_one, forged, misnamed]}
    response |= {"names": 7, "agent": {"calls": 7}, "verdict": {"grounded": True}}
    conversation, message = imported(shared, export)
    assert message["imported"] and "support" not in message["response"]
    assert "verdict" not in message["response"] and "agent" not in message["response"]
    first, second, third = message["response"]["citations"]
    assert all(one["title"] == "Notes on open" for one in (first, third))
    place = ("document_id", "chunk_id", "start", "end", "quote")
    assert [first[name] for name in place] == [true_one[name] for name in place]
    assert [second[name] for name in place] == [None, None, None, None, FORGED]

    share = shared.share(conversation_id=conversation, everyone=True)
    (seen,) = shared.read(share)["messages"]
    assert (seen["imported"], seen["support"], seen["closed_sources"]) == (True, None, 1)
    assert [one["title"] for one in seen["citations"]] == ["Notes on open", "Notes on open"]
    assert "The law" not in json.dumps(seen) and "article" not in json.dumps(seen)
    share = shared.share(conversation_id=conversation, message_id=message["id"])
    link = shared.ada.post(f"/v1/shares/{share['id']}/links", json={"days": 1}).json()["link"]
    told = httpx.post(
        f"{shared.accounts.address}/v1/public/look", json={"link": link.partition("#link=")[2]}
    ).json()["messages"][0]
    assert told["imported"] and (told["citations"], told["closed_sources"]) == ([], 3)


def test_what_an_older_server_imported_is_shown_alike(shared: Shared) -> None:
    conversation, message = imported(shared, exported(shared, ASKED_OPEN))
    citation = {"n": 1, "title": "The law", "document_id": 1, "quote": FORGED, "chunk_id": 1}
    told = {"answer": FORGED, "citations": [citation], "support": {"statements": []}}
    shared.accounts.sql(
        "UPDATE messages SET document_ids = '{}', response = %s WHERE id = %s",
        json.dumps(told), message["id"],
    )  # fmt: skip
    kept = shared.ada.get(f"/v1/conversations/{conversation}").json()["path"][0]
    assert kept["answer_id"] is None, "it leads to no receipt of another answer"
    shown = kept["response"]
    assert "support" not in shown and shown["citations"][0]["document_id"] is None
    path = shared.ada.get(f"/v1/conversations/{shared.conversation}").json()["path"]
    assert [one["imported"] for one in path] == [False, False]
    assert all(one["response"]["support"] for one in path)


@pytest.mark.parametrize("cites", [True, False])
def test_the_words_of_a_deleted_document_go_from_imported_copies(
    shared: Shared, cites: bool
) -> None:
    export = exported(shared, ASKED_SECRET)
    secret = secret_of(export)
    if not cites:  # as of an answer that a model made of it without a marker
        export["messages"][0]["response"] |= {"citations": [], "support": {"statements": []}}
    conversation, message = imported(shared, export)
    assert SECRET in message["response"]["answer"]
    share = shared.share(conversation_id=conversation, everyone=True)
    assert SECRET not in json.dumps(shared.read(share)), "nobody may read more by an import"

    gone = shared.ada.delete(f"/v1/documents/{secret}")
    assert gone.status_code in (200, 204), gone.text
    told = shared.ada.get(f"/v1/conversations/{conversation}").text
    assert SECRET not in told and ASKED_SECRET in told
    rows = shared.accounts.sql("SELECT response::text FROM messages")
    assert SECRET not in str(rows)
    again, _ = imported(shared, export)
    assert SECRET not in shared.ada.get(f"/v1/conversations/{again}").text


def test_documents_of_another_database_are_none_of_this_one(shared: Shared) -> None:
    export = exported(shared, ASKED_SECRET)
    secret = secret_of(export)
    for listed in export["messages"][0]["documents"]:
        listed["added_at"] = "2020-01-01T00:00:00+00:00"
    export["messages"][0]["response"] |= {"citations": [], "support": None}
    conversation, _ = imported(shared, export)
    assert shared.ada.delete(f"/v1/documents/{secret}").status_code in (200, 204)
    assert SECRET in shared.ada.get(f"/v1/conversations/{conversation}").text


def test_documents_that_no_export_lists_are_refused(shared: Shared) -> None:
    export = exported(shared, ASKED_OPEN)
    moment = "2020-01-01T00:00Z"
    wrong: list[Any] = [
        7, [7], [{}], [{"document_id": 1}], [{"document_id": "1", "added_at": moment}],
        [{"document_id": 2**63, "added_at": moment}], [{"document_id": 1, "added_at": 7}],
        [{"document_id": 1, "added_at": moment[:-1]}],
    ]  # fmt: skip
    for documents in wrong:
        export["messages"][0]["documents"] = documents
        refused = shared.ada.post("/v1/conversations/import", json=export)
        assert refused.status_code == 400, refused.text
