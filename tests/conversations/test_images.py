"""Images of conversations: put to one, asked about, kept with the question, gone with it."""

from __future__ import annotations

import base64
import io
from typing import Any

import httpx
import pytest
from PIL import Image

from helix.conversations import images
from helix.domain.history import IMAGE_HISTORY_RULES
from helix.settings.prompts import prompt
from tests.conversations.test_routes import ask, begun, frames_of, path_of
from tests.support.live_server import live
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

WHAT = "What was bought, and for how much?"
SEEN = "Two coffees for 7.40, one cake for 4.10."


def drawn(kind: str = "PNG", red: int = 200) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (9, 7), (red, 30, 60)).save(held, kind)
    return held.getvalue()


def put(client: httpx.Client, conversation: str, data: bytes, name: str = "bill.png") -> Any:
    address = f"/v1/conversations/{conversation}/images"
    return client.post(address, files={"image": (name, data, "text/html")})


def of_image(client: httpx.Client, wire: GeminiWire, conversation: str, data: bytes) -> Any:
    """A turn about the image."""
    image = put(client, conversation, data).json()["id"]
    wire.script(Answer(deltas=(SEEN,)), on="generate")
    return ask(client, conversation, question=WHAT, images=[image]).json()


def shown(body: dict[str, Any]) -> list[tuple[str, bytes]]:
    """The images of a request to the model: type and bytes."""
    parts = [part["inlineData"] for content in body["contents"] for part in content["parts"]
             if "inlineData" in part]  # fmt: skip
    return [
        (part.get("mime_type") or part["mimeType"], base64.b64decode(part["data"], altchars=b"-_"))
        for part in parts
    ]


def test_a_question_about_an_image_is_a_turn(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    data = drawn("WEBP")
    kept = put(client, conversation, data, "folder\\bill.webp").json()
    assert kept == {"id": kept["id"], "name": "bill.webp", "media": "image/webp",
                    "bytes": len(data)}  # fmt: skip
    searched = len(wire.received("embed"))
    wire.script(Answer(deltas=("Two coffees for 7.40,", " one cake for 4.10.")), on="generate")
    asked = {"question": WHAT, "images": [kept["id"]], "stream": True}
    frames = frames_of(ask(client, conversation, **asked).content)
    assert [name for _, name, _ in frames] == [
        "message", "memory", "token", "token", "citations", "done",
    ]  # fmt: skip
    (row,) = path_of(client, conversation)
    assert (row["status"], row["attachments"]) == ("done", [kept])
    response = row["response"]
    assert (response["answer"], response["citations"], response["abstained"]) == (SEEN, [], False)
    assert response["turn"]["type"] == "image" and response["support"]["statements"] == []
    body = wire.received("generate")[-1].body
    assert body["systemInstruction"]["parts"][0]["text"] == prompt("image")
    assert shown(body) == [("image/webp", data)]
    assert len(wire.received("embed")) == searched, "nothing is retrieved"
    assert client.get(f"/v1/answers/{row['answer_id']}").json()["answer"] == SEEN
    read = client.get(f"/v1/conversations/{conversation}/images/{kept['id']}")
    assert (read.content, read.headers["content-type"]) == (data, "image/webp")
    assert read.headers["x-content-type-options"] == "nosniff"


def test_the_history_is_put_to_the_model_as_data(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    answer = ask(client, conversation).json()["answer"].partition(" [1]")[0]
    of_image(client, wire, conversation, drawn())
    body = wire.received("generate")[-1].body
    rules = body["systemInstruction"]["parts"][0]["text"]
    assert rules == f"{prompt('image')}\n{IMAGE_HISTORY_RULES}"
    assert answer in str(body["contents"][0]["parts"][0]["text"])
    # the turn about the image is history of the next, which is searched as ever
    following = ask(client, conversation, question="How long do I have to request a refund?")
    assert following.json()["turn"]["type"] != "image" and following.json()["citations"]
    assert SEEN in str(wire.received("generate")[-1].body["contents"])


def test_asking_again_and_editing_keep_the_image(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    data = drawn(red=10)
    first = of_image(client, wire, conversation, data)
    address = f"/v1/conversations/{conversation}/messages/{first['message_id']}"
    for path, body in (("regenerate", {}), ("edit", {"question": "And the date?"})):
        wire.script(Answer(deltas=("The 12th of May.",)), on="generate")
        told = client.post(f"{address}/{path}", json={**body, "stream": False}).json()
        assert told["turn"]["type"] == "image"
        assert shown(wire.received("generate")[-1].body) == [("image/png", data)]
    without = {"question": "How long do I have to request a refund?", "images": []}
    told = client.post(f"{address}/edit", json={**without, "stream": False}).json()
    assert told["turn"]["type"] == "standalone" and told["citations"]


def test_an_image_is_of_one_conversation(client: httpx.Client, wire: GeminiWire) -> None:
    conversation, other = begun(client), begun(client)
    image = put(client, conversation, drawn(red=20)).json()["id"]
    assert client.get(f"/v1/conversations/{other}/images/{image}").status_code == 404
    refused = ask(client, other, question=WHAT, images=[image])
    assert refused.status_code == 404 and "no image" in refused.json()["error"]
    assert path_of(client, other) == []
    assert put(client, "nowhere", drawn()).status_code == 404
    assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
    assert client.get(f"/v1/conversations/{conversation}/images/{image}").status_code == 404


def test_what_is_no_image_or_too_much_is_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = begun(client)
    assert put(client, conversation, b"<svg></svg>").status_code == 415
    assert put(client, conversation, drawn() + bytes(10 * 2**20)).status_code == 413
    first = put(client, conversation, drawn(red=30))
    monkeypatch.setattr(images, "MOST_BYTES", first.json()["bytes"] + 1)
    assert put(client, conversation, drawn(red=30), "again.png").json() == first.json()
    more = put(client, conversation, drawn(red=31))
    assert more.status_code == 400 and "MB of images" in more.json()["error"]
    for named in (["x"], ["0" * 64] * 6):
        refused = ask(client, conversation, images=named)
        assert refused.status_code == 400 and refused.json()["error"].startswith("images ")


def test_images_come_back_with_an_import(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = begun(client)
    data = drawn("JPEG", red=40)
    of_image(client, wire, conversation, data)
    address = f"/v1/conversations/{conversation}/export"
    exported = client.get(address).json()
    imported = "/v1/conversations/import"
    made = client.post(imported, json=exported).json()["id"]
    (row,) = path_of(client, made)
    assert row["attachments"][0]["name"] == "bill.png"
    read = client.get(f"/v1/conversations/{made}/images/{row['attachments'][0]['id']}")
    assert read.content == data
    text = client.get(address, params={"format": "markdown"}).text
    assert "*Image: bill.png*\n" in text
    markdown = {"Content-Type": "text/markdown"}
    made = client.post(imported, content=text.encode(), headers=markdown).json()["id"]
    assert path_of(client, made)[0]["response"]["answer"] == SEEN
    kept = exported["images"][0]
    for broken in ([kept | {"data": "?"}], [kept | {"data": "AAAA"}], [], [1], "none"):
        refused = client.post(imported, json=exported | {"images": broken})
        assert refused.status_code in (400, 404), broken


def test_a_model_that_cannot_see_says_so_before_anything_is_kept(
    stored: dict[str, int], module_database_url: str
) -> None:
    with live(module_database_url, embedder="gemini", gemini_api_key="wire-test-key") as client:
        conversation = begun(client)
        refused = put(client, conversation, drawn())
        assert refused.status_code == 501 and "cannot look at images" in refused.json()["error"]
        refused = ask(client, conversation, images=["0" * 64])
        assert refused.status_code == 501 and path_of(client, conversation) == []
