"""POST /ask-image: the real SDK over real HTTP, images told by their bytes."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import httpx
import pytest
from PIL import Image

from helix.answering.images import KINDS, image_type
from helix.settings.prompts import prompt
from tests.support.live_server import live
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, refused_key

QUESTION = "What does the receipt say?"
HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(40)


def image(kind: str) -> bytes:
    """A small real image of a format that Pillow writes."""
    held = io.BytesIO()
    Image.new("RGB", (9, 7), (200, 30, 60)).save(held, kind)
    return held.getvalue()


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with GeminiWire() as wire, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOOGLE_GEMINI_BASE_URL", wire.base_url)
        yield wire


@pytest.fixture(scope="module")
def client(module_database_url: str, wire: GeminiWire) -> Iterator[httpx.Client]:
    values = {"llm": "gemini", "gemini_api_key": "wire-test-key"}
    with live(module_database_url, **values) as client:
        yield client


def ask(client: httpx.Client, data: bytes, q: str | None = QUESTION) -> httpx.Response:
    fields = {} if q is None else {"q": q}
    files = {"image": ("page.html", data, "text/html")}  # what it is called counts nothing
    return client.post("/ask-image", files=files, data=fields)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (image("PNG"), "image/png"),
        (image("JPEG"), "image/jpeg"),
        (image("WEBP"), "image/webp"),
        (HEIC, "image/heic"),
        (HEIC.replace(b"heic", b"mif1"), "image/heif"),
    ],
)
def test_images_are_told_by_their_bytes(data: bytes, kind: str) -> None:
    assert image_type(data) == kind
    assert image_type(data[:12]) is None, "a signature alone is no image"
    assert image_type(b" " + data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n" + bytes(40),
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"%PDF-1.7\n",
        b"RIFF\x10\x00\x00\x00WAVEfmt ",
        b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00isommp42" + bytes(40),
        b"\xff\xd8\xff",
    ],
)
def test_what_is_no_image_is_refused_before_the_model(
    client: httpx.Client, wire: GeminiWire, data: bytes
) -> None:
    before = len(wire.requests)
    response = ask(client, data)
    assert (response.status_code, response.json()) == (415, {"error": "unsupported media type"})
    assert len(wire.requests) == before


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "ICO"])
def test_an_image_of_another_kind_is_told_which_are_taken(
    client: httpx.Client, wire: GeminiWire, kind: str
) -> None:
    before = len(wire.requests)
    response = ask(client, image(kind))
    told = f"unsupported media type: {kind} images are not taken, send {KINDS}"
    assert (response.status_code, response.json()) == (415, {"error": told})
    assert len(wire.requests) == before


def test_the_model_gets_image_question_and_rules(client: httpx.Client, wire: GeminiWire) -> None:
    data = image("PNG")
    wire.script(Answer(deltas=("14.90 euros, 12 May",)), on="generate")
    response = ask(client, data)
    assert (response.status_code, response.json()) == (200, {"text": "14.90 euros, 12 May"})
    body = wire.received("generate")[-1].body
    assert body["systemInstruction"]["parts"][0]["text"] == prompt("image")
    picture, text = body["contents"][0]["parts"]
    assert picture["inlineData"]["mime_type"] == "image/png"
    assert base64.b64decode(picture["inlineData"]["data"], altchars=b"-_") == data
    assert text["text"] == QUESTION
    assert not wire.received("embed"), "nothing is retrieved"


def test_the_model_is_told_the_prompt_of_the_tenant_that_the_form_names(
    client: httpx.Client, wire: GeminiWire
) -> None:
    own = {"text": "Describe the picture in two words.", "tenant_id": "acme"}
    assert client.post("/v1/prompts/image", json=own).status_code == 200
    wire.script(Answer(deltas=("Paid bill",)), on="generate")
    files, fields = {"image": image("PNG")}, {"q": QUESTION, "tenant_id": "acme"}
    assert client.post("/ask-image", files=files, data=fields).json() == {"text": "Paid bill"}
    told = wire.received("generate")[-1].body["systemInstruction"]["parts"][0]["text"]
    assert own["text"] in told and told != prompt("image")
    twice = {"q": QUESTION, "tenant_id": ["acme", "other"]}
    assert client.post("/ask-image", files=files, data=twice).status_code == 400


@pytest.mark.parametrize("q", [None, "", " \u200b", "x" * 4001])
def test_a_question_is_needed(client: httpx.Client, wire: GeminiWire, q: str | None) -> None:
    before = len(wire.requests)
    response = ask(client, image("PNG"), q)
    assert response.status_code == 400 and response.json()["error"].startswith("q ")
    assert len(wire.requests) == before


def test_an_image_is_needed_and_not_too_large(client: httpx.Client) -> None:
    assert client.post("/ask-image", data={"q": QUESTION}).status_code == 400
    response = client.post("/ask-image", files={"other": b"x"}, data={"q": QUESTION})
    assert response.status_code == 400 and "field image" in response.json()["error"]
    response = ask(client, image("PNG") + bytes(10 * 2**20))
    assert response.status_code == 413 and "10 MB" in response.json()["error"]


def test_a_model_that_fails_is_told_in_one_line(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(refused_key(), on="generate")
    response = ask(client, image("PNG"))
    assert response.status_code == 503 and "GEMINI_API_KEY" in response.json()["error"]


def test_the_offline_model_says_that_it_cannot_see(module_database_url: str) -> None:
    with live(module_database_url) as client:
        response = ask(client, image("PNG"))
        assert response.status_code == 501 and "HELIX_LLM" in response.json()["error"]
        assert ask(client, b"no image").status_code == 415
