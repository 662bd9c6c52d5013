"""Conversations over HTTP: asked, streamed, followed again, stopped, branched and interrupted."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from helix.domain.contract import json_bytes
from tests.support.query_service import KEYS, QUESTION, a_client
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Failure

Frame = tuple[int, str, Any]
ANSWER = "Refunds are accepted within 30 days of purchase, request a refund by letter [1]."
SLOW = Answer(tuple(f"word{n} " for n in range(40)), delay=0.1)


def begun(client: httpx.Client, **body: Any) -> str:
    response = client.post("/v1/conversations", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def ask(client: httpx.Client, conversation: str, **body: Any) -> httpx.Response:
    asked = {"question": QUESTION, "stream": False, **body}
    return client.post(f"/v1/conversations/{conversation}/messages", json=asked)


def frames_of(content: bytes) -> list[Frame]:
    blocks = [block for block in content.decode().split("\n\n") if block and block[0] != ":"]
    found = [re.fullmatch(r"id: (\d+)\nevent: (\w+)\ndata: (.*)", block) for block in blocks]
    return [(int(m[1]), m[2], json.loads(m[3])) for m in found if m or pytest.fail(str(blocks))]


def path_of(client: httpx.Client, conversation: str) -> list[dict[str, Any]]:
    read = client.get(f"/v1/conversations/{conversation}").json()
    path: list[dict[str, Any]] = read["path"]
    return path


def test_a_turn_is_streamed_kept_and_told_again(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    told = ask(client, conversation, stream=True)
    assert told.status_code == 200, told.text
    frames = frames_of(told.content)
    assert [n for n, _, _ in frames] == list(range(1, len(frames) + 1))
    names = [name for _, name, _ in frames]
    assert (names[:2], names[-2:]) == (["message", "memory"], ["citations", "done"])
    assert "".join(data["t"] for _, name, data in frames if name == "token") == ANSWER
    first = frames[0][2]
    assert first["question"] == QUESTION and first["conversation_id"] == conversation
    assert told.headers["x-answer-id"] == first["answer_id"] == frames[-1][2]["answer_id"]
    address = f"/v1/conversations/{conversation}/messages/{first['message_id']}"
    # whoever comes back is told the same bytes, from wherever it was
    whole = told.content
    for last in (0, 1, len(frames) // 2, len(frames)):
        again = client.get(f"{address}/events", headers={"Last-Event-ID": str(last)})
        rest = b"".join(block + b"\n\n" for block in whole.split(b"\n\n")[last:-1])
        assert again.content == rest
    kept = client.get(address).json()
    assert (kept["status"], kept["question"], kept["stale"]) == ("done", QUESTION, [])
    assert kept["response"]["answer"] == ANSWER
    assert kept["response"]["citations"] == frames[-2][2]
    assert kept["model"].startswith("gemini")
    receipt = client.get(f"/v1/answers/{kept['answer_id']}").json()
    assert receipt["answer"] == ANSWER and kept["rating"] is None
    for rating in ("down", "up"):
        rated = client.post(f"/v1/answers/{kept['answer_id']}/feedback", json={"rating": rating})
        assert rated.status_code == 201
    assert client.get(address).json()["rating"] == "up"  # the last counts


def test_turns_follow_each_other_and_siblings_stand_beside(
    client: httpx.Client, wire: GeminiWire
) -> None:
    conversation = begun(client, title="Refunds", document_ids=None)
    first = ask(client, conversation).json()
    assert set(KEYS) < set(first) and first["parent_id"] is None
    second = ask(client, conversation, question="Are parcels to Norway slow?").json()
    assert second["parent_id"] == first["message_id"]
    address = f"/v1/conversations/{conversation}/messages"
    edited = client.post(
        f"{address}/{second['message_id']}/edit",
        json={"question": "How long do parcels take?", "stream": False},
    ).json()
    again = client.post(f"{address}/{first['message_id']}/regenerate", json={"stream": False})
    assert [m["question"] for m in path_of(client, conversation)] == [QUESTION]
    assert again.json()["parent_id"] is None
    chosen = client.patch(
        f"/v1/conversations/{conversation}", json={"active": edited["message_id"]}
    ).json()
    assert chosen["active"] == edited["message_id"] and chosen["messages"] == 4
    path = path_of(client, conversation)
    assert [m["question"] for m in path] == [QUESTION, "How long do parcels take?"]
    assert path[0]["siblings"] == [first["message_id"], again.json()["message_id"]]
    assert path[1]["siblings"] == [second["message_id"], edited["message_id"]]
    # the path through the second goes to it: no message is out of reach
    client.patch(f"/v1/conversations/{conversation}", json={"active": first["message_id"]})
    assert path_of(client, conversation)[-1]["id"] == second["message_id"]
    tree = client.get(f"/v1/conversations/{conversation}", params={"view": "tree"}).json()
    assert [row["id"] for row in tree["tree"]] == sorted(
        m["message_id"] for m in (first, second, edited, again.json())
    )
    listed = client.get("/v1/conversations", params={"q": "norway"}).json()
    assert [row["id"] for row in listed["conversations"]] == [conversation]
    assert listed["conversations"][0]["title"] == "Refunds"
    assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
    assert client.get(f"/v1/conversations/{conversation}").status_code == 404


def test_a_scope_of_the_conversation_holds_for_its_questions(
    client: httpx.Client, wire: GeminiWire
) -> None:
    conversation = begun(client, filters={"tags": ["nowhere"]})
    assert ask(client, conversation).json()["reason"] == "filtered_empty"
    own = ask(client, conversation, filters={"tags": ["policy"]}).json()
    assert own["reason"] != "filtered_empty"
    client.patch(f"/v1/conversations/{conversation}", json={"filters": None})
    assert client.get(f"/v1/conversations/{conversation}").json()["scope"] == {}


def test_a_query_begins_a_conversation_and_goes_on_with_it(
    client: httpx.Client, wire: GeminiWire
) -> None:
    body = {"question": QUESTION, "conversation_id": "of a client/1"}
    first = client.post("/v1/query", json=body).json()
    assert set(first) == {*KEYS, "turn", "conversation_id"}
    assert first["conversation_id"] == body["conversation_id"]
    streamed = client.post("/v1/query", json=body | {"stream": True}).text
    assert streamed.startswith("event: token\ndata: ")
    found = client.get("/v1/conversations", params={"limit": 1}).json()["conversations"]
    assert path_of(client, found[0]["id"])[0]["answer_id"] == first["answer_id"]
    assert found[0]["messages"] == 2


def test_a_conversation_of_a_query_is_found_by_the_name_that_it_was_given(
    client: httpx.Client, wire: GeminiWire
) -> None:
    body = {"question": QUESTION, "conversation_id": "user 42"}
    first = client.post("/v1/query", json=body).json()
    assert path_of(client, "user%2042")[0]["answer_id"] == first["answer_id"]
    renamed = client.patch("/v1/conversations/user 42", json={"title": "Of 42"})
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Of 42")
    assert ask(client, "user 42").json()["turn"]
    assert len(path_of(client, "user 42")) == 2
    assert client.delete("/v1/conversations/user%2042").status_code == 204
    assert client.get("/v1/conversations/user 42").status_code == 404


def started(client: httpx.Client, wire: GeminiWire, conversation: str) -> int:
    """A slow answer whose client leaves after its first frames; the message."""
    wire.script(SLOW, on="generate")
    address = f"/v1/conversations/{conversation}/messages"
    with client.stream("POST", address, json={"question": QUESTION}) as response:
        for piece in response.iter_raw():
            if b"event: token" in piece:
                break
    read = client.get(f"/v1/conversations/{conversation}").json()
    assert read["answering"] is not None, "the answer ended with its client"
    return int(read["answering"])


def test_an_answer_goes_on_without_its_client(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    message = started(client, wire, conversation)
    # nothing interleaves: the second is refused, or waits for its turn
    assert ask(client, conversation).status_code == 409
    address = f"/v1/conversations/{conversation}/messages/{message}"
    followed = client.get(f"{address}/events", headers={"Last-Event-ID": "3"}).content
    assert frames_of(followed)[-1][1] == "done"
    again = client.get(f"{address}/events").content
    assert again.endswith(followed) and len(again) > len(followed)
    words = "".join(data["t"] for _, name, data in frames_of(again) if name == "token")
    assert words == "".join(SLOW.deltas)


def test_the_second_of_two_waits_where_it_says_so(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    message = started(client, wire, conversation)
    second = ask(client, conversation, wait=True)
    assert second.status_code == 200 and second.json()["parent_id"] == message


def test_stopping_closes_the_models_stream(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    message = started(client, wire, conversation)
    address = f"/v1/conversations/{conversation}/messages/{message}"
    told = client.post(f"{address}/stop")
    assert told.json() == {"id": message, "status": "stopped"}
    assert wire.wait_until(lambda wire: wire.open_streams == 0, 10)
    kept = client.get(address).json()
    assert kept["status"] == "stopped" and kept["response"]["answer"].startswith("word0 ")
    frames = frames_of(client.get(f"{address}/events").content)
    assert frames[-1][1:] == ("stopped", {})
    assert "word39" not in kept["response"]["answer"]
    assert client.post(f"{address}/stop").status_code == 409


def test_deleting_a_conversation_stops_its_answer(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    message = started(client, wire, conversation)
    events = f"/v1/conversations/{conversation}/messages/{message}/events"
    with client.stream("GET", events) as response:
        assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
        told = b"".join(response.iter_raw())
    number, name, data = frames_of(told)[-1]
    assert (number, name) == (len(frames_of(told)), "error")
    assert data == {"error": "the conversation was deleted while it was answered"}
    assert wire.wait_until(lambda wire: wire.open_streams == 0, 10)
    assert client.get(events).status_code == 404


def test_whoever_waits_for_an_answer_is_told_that_it_was_deleted(
    client: httpx.Client, wire: GeminiWire
) -> None:
    conversation = begun(client)
    wire.script(SLOW, on="generate")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, client, conversation)
        assert wire.wait_until(lambda wire: wire.open_streams == 1, 10)
        assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
        told = waiting.result()
    assert told.status_code == 404 and "there is no message" in told.json()["error"]


def test_a_turn_that_another_process_makes_is_stopped_and_followed(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    conversation = begun(client)
    message = started(client, wire, conversation)
    address = f"/v1/conversations/{conversation}/messages/{message}"
    with a_client(module_database_url) as other:
        assert other.post(f"{address}/stop").json()["status"] == "stopped"
        frames = frames_of(other.get(f"{address}/events").content)
    assert frames[-1][1] == "stopped"
    assert wire.wait_until(lambda wire: wire.open_streams == 0, 10)


def test_a_failure_is_told_and_kept(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    wire.script(*[Failure(400, "INVALID_ARGUMENT")] * 3, on="generate")
    failed = ask(client, conversation, stream=True)
    assert failed.status_code == 502 and "error" in failed.json()
    (kept,) = path_of(client, conversation)
    assert (kept["status"], kept["error"]) == ("failed", failed.json()["error"])
    wire._script.clear()
    again = client.post(
        f"/v1/conversations/{conversation}/messages/{kept['id']}/regenerate",
        json={"stream": False},
    ).json()
    assert again["answer"] == ANSWER


def test_a_turn_whose_process_is_silent_is_marked_interrupted(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    conversation = begun(client)
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO messages (conversation_id, branch, depth, is_active, question,"
            " answer_id, owner, seen_at) VALUES (%s, 1, 0, true, 'Why?', 'a', 'gone',"
            " now() - interval '1 minute')",
            (conversation,),
        )
        odd = "a\x00b\\u0000 \\\x00 \ud800 \ue000 \U0001f600 end"
        for number, text in enumerate(("told ", odd), start=1):
            connection.execute(
                "INSERT INTO message_events (conversation_id, message_id, n, event, data)"
                " SELECT %s, max(id), %s, 'token', %s FROM messages",
                (conversation, number, json_bytes({"t": text}).decode()),
            )
    (kept,) = path_of(client, conversation)
    address = f"/v1/conversations/{conversation}/messages/{kept['id']}/events"
    first, second = (client.get(address).content for _ in range(2))
    assert first == second
    assert frames_of(first)[-1][1] == "interrupted"
    (ended,) = path_of(client, conversation)
    assert ended["status"] == "interrupted"
    assert ended["response"]["answer"].startswith("told a\x00b\\u0000 \\\x00 \ud800 \ue000 ")
    assert ended["response"]["answer"].endswith(" end")
    assert ask(client, conversation).status_code == 200


def test_what_a_cited_document_has_become_is_told(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    conversation = begun(client)
    answer = ask(client, conversation).json()
    cited = answer["citations"][0]
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        change = "UPDATE documents SET content_hash = 'new' WHERE id = %s"
        connection.execute(change, (cited["document_id"],))
    (kept,) = path_of(client, conversation)
    assert kept["stale"] == [{
        "document_id": cited["document_id"], "title": cited["title"], "change": "changed",
        "quotes_hold": True,
    }]  # fmt: skip
    assert client.delete(f"/v1/documents/{cited['document_id']}").status_code == 204
    (kept,) = path_of(client, conversation)
    assert [row["change"] for row in kept["stale"]] == ["deleted"]
    assert kept["response"]["answer"] is None and kept["question"] == QUESTION
    told = json.dumps(kept["response"])
    assert "Refunds" not in told and cited["title"] not in told
    events = client.get(f"/v1/conversations/{conversation}/messages/{kept['id']}/events")
    assert "Refunds" not in events.text
