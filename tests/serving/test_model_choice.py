"""The model that answers: chosen by request, conversation and tenant; Gemini on a wire; none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from helix.errors import SettingsError
from helix.library.keys import create_key
from helix.protocols.messages import UNPROVEN
from helix.providers.choices import build_models, names_of_models
from helix.providers.factories import build_llm
from helix.settings import load_settings
from tests.serving.test_sse import parse_stream
from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.query_service import QUESTION, asked, events_of, post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

GEMINI = "gemini:gemini-3.5-flash-lite"
LITE = "Gemini 3.5 Flash-Lite"
NO_MODEL = "No model: quotes only"
SAID = "Ask within 30 days of purchase [1]."
CHOICE: dict[str, Any] = {
    "llm": "offline", "models": (GEMINI,), "embedder": "gemini", "judge": "offline",
    "gemini_api_key": "wire-test-key", "retrieval_max_distance": 0.8,
}  # fmt: skip


@pytest.fixture(scope="module")
def client(
    module_database_url: str, stored: dict[str, int], wire: GeminiWire
) -> Iterator[httpx.Client]:
    with live(module_database_url, **CHOICE) as opened:
        yield opened


@pytest.fixture(autouse=True)
def said(wire: GeminiWire) -> None:
    wire.script(*[Answer((SAID,))] * 20, on="generate")


def test_about_lists_the_models_and_the_one_that_answers(client: httpx.Client) -> None:
    told = client.get("/v1/about").json()
    assert [(one["name"], one["title"]) for one in told["models"]] == [
        ("offline", NO_MODEL), (GEMINI, LITE),
    ]  # fmt: skip
    assert [one["quotes_only"] for one in told["models"]] == [True, False]
    assert told["model"] == "offline"


def test_a_query_is_answered_by_the_model_that_it_names(client: httpx.Client) -> None:
    quoted, written = asked(client), asked(client, model=GEMINI)

    assert quoted["model"]["title"] == NO_MODEL and "30 days" in quoted["answer"]
    assert (written["model"]["title"], written["answer"]) == (LITE, SAID)
    receipt = client.get(f"/v1/answers/{written['answer_id']}").json()
    assert receipt["models"]["llm"] == GEMINI
    assert client.get(f"/v1/answers/{quoted['answer_id']}").json()["models"]["llm"] != GEMINI


def test_ask_is_answered_by_the_model_that_it_names(client: httpx.Client) -> None:
    def ask(**model: str) -> httpx.Response:
        return client.get("/ask", params={"q": QUESTION, **model})

    plain, written = ask(), ask(model=GEMINI)
    text, citations = parse_stream(written.content)
    assert text == SAID and [one["n"] for one in citations] == [1]
    assert parse_stream(plain.content)[0] != SAID
    assert plain.content == ask(model="offline").content  # the default, to the byte
    receipt = client.get(f"/v1/answers/{written.headers['X-Answer-Id']}").json()
    assert receipt["models"]["llm"] == GEMINI
    for name in ("gemini:gemini-9-ultra", "", "x" * 301):
        refused = ask(model=name)
        assert refused.status_code == 400 and "model" in refused.json()["error"]
    assert ask(model="gpt").json()["error"].endswith(f"choose one of offline, {GEMINI}")


def test_another_models_stream_names_it_too(client: httpx.Client) -> None:
    events = events_of(post(client, model=GEMINI, stream=True).content)
    assert dict(events)["done"]["model"]["title"] == LITE


def test_where_no_model_was_asked_none_is_named(client: httpx.Client) -> None:
    refused = client.post(
        "/v1/query", json={"question": "Who won the cup in 1978?", "model": GEMINI}
    ).json()
    assert refused["abstained"] and refused["model"] is None
    assert client.post("/v1/query", json={"question": "Hello"}).json()["model"] is None


@pytest.mark.parametrize("name", ["gemini:gemini-9-ultra", "", "offline "])
def test_an_unknown_model_is_refused_with_those_that_there_are(
    client: httpx.Client, name: str
) -> None:
    for body in ({"model": name}, {"model": name, "stream": True}):
        refused = post(client, **body)
        assert refused.status_code == 400
        assert refused.json()["error"].endswith(f"choose one of offline, {GEMINI}")
    for method, path in (("POST", "/v1/conversations"), ("PATCH", "/v1/settings")):
        refused = client.request(method, path, json={"model": name})
        assert (name == "" and "conversations" in path) or refused.status_code == 400


def test_a_name_that_is_too_long_or_no_text_is_refused(client: httpx.Client) -> None:
    for name in ("x" * 301, 7):
        refused = post(client, model=name)
        assert refused.status_code == 400 and "GET /v1/about lists" in refused.json()["error"]


def test_an_import_keeps_its_model_and_says_where_it_cannot(client: httpx.Client) -> None:
    client.post("/v1/conversations", json={"id": "carried", "model": GEMINI})
    exported = client.get("/v1/conversations/carried/export").json()

    def brought(model: str | None) -> dict[str, Any]:
        response = client.post("/v1/conversations/import", json=exported | {"model": model})
        assert response.status_code == 201, response.text
        told: dict[str, Any] = response.json()
        return told

    kept, unknown, none = brought(GEMINI), brought("local:mine.gguf"), brought(None)
    assert kept["model"] == GEMINI and "model_left_out" not in kept
    assert (unknown["model"], unknown["model_left_out"]) == (None, "local:mine.gguf")
    assert none["model"] is None and "model_left_out" not in none


def test_a_conversation_keeps_its_model_and_a_message_may_have_another(
    client: httpx.Client,
) -> None:
    begun = client.post("/v1/conversations", json={"id": "chosen", "model": GEMINI}).json()
    assert begun["model"] == GEMINI
    messages = "/v1/conversations/chosen/messages"

    def answered(path: str = messages, **body: Any) -> dict[str, Any]:
        response = client.post(path, json={"stream": False, **body})
        assert response.status_code == 200, response.text
        told: dict[str, Any] = response.json()
        return told

    own, other = answered(question=QUESTION), answered(question=QUESTION, model="offline")
    assert (own["model"]["title"], other["model"]["title"]) == (LITE, NO_MODEL)
    path = client.get("/v1/conversations/chosen").json()["path"]
    assert path[0]["model"] == GEMINI and path[1]["model"].startswith("offline")
    assert answered(f"{messages}/{path[1]['id']}/regenerate")["model"]["title"] == LITE

    refused = client.post(messages, json={"question": QUESTION, "model": "openai:gpt"})
    assert refused.status_code == 400 and GEMINI in refused.json()["error"]
    assert len(client.get("/v1/conversations/chosen").json()["path"]) == 2, "nothing was added"

    changed = client.patch("/v1/conversations/chosen", json={"model": ""}).json()
    assert changed["model"] is None
    assert answered(question=QUESTION)["model"]["title"] == NO_MODEL


def test_a_tenant_has_a_model_of_its_own(client: httpx.Client) -> None:
    assert client.get("/v1/settings").json() == {"model": None}
    assert client.patch("/v1/settings", json={}).status_code == 400
    assert client.patch("/v1/settings", json={"model": GEMINI}).json() == {"model": GEMINI}
    try:
        assert asked(client)["model"]["title"] == LITE
        assert client.get("/v1/about").json()["model"] == GEMINI
        assert asked(client, model="offline")["model"]["title"] == NO_MODEL
        assert client.get("/ask", params={"q": QUESTION}).text.count("30 days of purchase [1]") == 1
        other = client.get("/v1/about", params={"tenant_id": "acme"}).json()
        assert other["model"] == "offline"
    finally:
        assert client.patch("/v1/settings", json={"model": None}).json() == {"model": None}
    assert asked(client)["model"]["title"] == NO_MODEL


def test_choosing_for_a_tenant_takes_a_key_that_writes(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        reads = create_key(connection, "acme", scopes=("ask", "read"))[1]
    with live(database_url, auth="keys") as client:
        headers = {"Authorization": f"Bearer {reads}"}
        assert client.get("/v1/settings", headers=headers).status_code == 200
        sent = client.patch("/v1/settings", headers=headers, json={"model": "offline"})
    assert sent.status_code == 403


def test_a_tenants_model_that_is_gone_gives_way_to_that_of_the_settings(
    module_database_url: str, client: httpx.Client
) -> None:
    client.patch("/v1/settings", json={"model": GEMINI})
    try:
        with live(module_database_url, **CHOICE | {"models": ()}) as without:
            assert without.get("/v1/about").json()["model"] == "offline"
            assert asked(without)["model"]["title"] == NO_MODEL
    finally:
        client.patch("/v1/settings", json={"model": None})


def test_openais_clients_choose_by_the_models_name(client: httpx.Client) -> None:
    listed = [one["id"] for one in client.get("/v1/models").json()["data"]]
    assert {"helix", "helix/offline", f"helix/{GEMINI}", f"helix-agent/{GEMINI}"} <= set(listed)
    assert client.get(f"/v1/models/helix/{GEMINI}").json()["id"] == f"helix/{GEMINI}"

    def completed(model: str) -> httpx.Response:
        messages = [{"role": "user", "content": QUESTION}]
        return client.post("/v1/chat/completions", json={"model": model, "messages": messages})

    written = completed(f"helix/{GEMINI}").json()
    said = f"{SAID}\n\n{UNPROVEN}"
    assert written["choices"][0]["message"]["content"] == said
    assert written["model"] == f"helix/{GEMINI}"
    assert SAID not in completed("helix").json()["choices"][0]["message"]["content"]
    refused = completed("helix/openai:gpt")
    assert refused.status_code == 404 and f"helix/{GEMINI}" in refused.json()["error"]["message"]
    responded = client.post(
        "/v1/responses", json={"model": f"helix/{GEMINI}", "input": QUESTION}
    ).json()
    assert responded["output"][0]["content"][0]["text"] == said


def test_the_ui_chat_names_its_model(client: httpx.Client) -> None:
    parts = [{"type": "text", "text": QUESTION}]
    body = {"id": "ui", "messages": [{"role": "user", "parts": parts}], "model": GEMINI}
    streamed = client.post("/v1/ui/chat", json=body).text
    assert "Ask within" in streamed
    assert client.post("/v1/ui/chat", json=body | {"model": "x"}).status_code == 400


def test_a_replay_asks_the_model_that_answered_or_says_that_it_is_gone(
    client: httpx.Client, module_database_url: str, wire: GeminiWire
) -> None:
    answer_id = asked(client, model=GEMINI)["answer_id"]
    environment = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini",
        "HELIX_JUDGE": "offline", "RETRIEVAL_MAX_DISTANCE": "0.8",
        "GEMINI_API_KEY": "wire-test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
    }  # fmt: skip

    same = helix("replay", answer_id, **environment, HELIX_MODELS=GEMINI)
    gone = helix("replay", answer_id, **environment)

    assert (same.returncode, "identical" in same.stdout) == (0, True), same.stdout + same.stderr
    assert gone.returncode == 1
    assert f"model changed: llm: {GEMINI} -> offline" in gone.stdout
    assert "is not offered any more" in gone.stdout


def test_a_command_asks_a_model(
    client: httpx.Client, module_database_url: str, wire: GeminiWire
) -> None:
    server = {"HELIX_SERVER": str(client.base_url)}
    here = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini",
        "HELIX_MODELS": GEMINI, "HELIX_JUDGE": "offline", "RETRIEVAL_MAX_DISTANCE": "0.8",
        "GEMINI_API_KEY": "wire-test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
    }  # fmt: skip
    for environment in (server, here):
        told = helix("ask", QUESTION, "--json", "--model", GEMINI, **environment)
        assert json.loads(told.stdout)["model"]["title"] == LITE, told.stderr
        refused = helix("ask", QUESTION, "--model", "openai:gpt", **environment)
        assert refused.returncode == 2 and GEMINI in refused.stderr


def test_a_command_chooses_for_a_tenant(module_database_url: str, client: httpx.Client) -> None:
    environment = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
        "HELIX_MODELS": GEMINI, "GEMINI_API_KEY": "wire-test-key",
    }  # fmt: skip

    def model(*arguments: str) -> str:
        told = helix("tenants", "model", "acme", *arguments, **environment)
        assert told.returncode == 0, told.stderr
        return told.stdout.strip()

    assert model() == "offline"
    assert model("--to", GEMINI) == GEMINI
    told = client.get("/v1/about", params={"tenant_id": "acme"}).json()
    assert told["model"] == GEMINI
    assert model("--reset") == "offline"
    refused = helix("tenants", "model", "acme", "--to", "openai:gpt", **environment)
    assert refused.returncode != 0
    assert refused.stderr.endswith(f"choose one of offline, {GEMINI}\n"), refused.stderr


def test_a_bad_name_stops_the_process_with_its_variable(database_url: str) -> None:
    for name, line in (
        ("nobody:x", "HELIX_MODELS names an unknown provider 'nobody'"),
        ("offline:x", "HELIX_MODELS=offline takes no model name"),
        ("anthropic", "HELIX_MODELS names no model: set it to anthropic:<model>"),
    ):
        with pytest.raises(SettingsError, match=re.escape(line)):
            settings = load_settings(
                database_url=database_url, llm="offline", embedder="offline", models=(name,)
            )
            build_models(settings, build_llm(settings))
    with pytest.raises(SettingsError, match="GEMINI_API_KEY is not set"):
        load_settings(
            database_url=database_url, llm="offline", embedder="offline", models=("gemini",)
        )


def test_a_model_in_a_file_is_named_without_its_folder() -> None:
    settings = load_settings(
        database_url="embedded", llm="offline", embedder="offline",
        models=("local:/srv/secret/small.gguf",),
    )  # fmt: skip
    assert list(names_of_models(settings)) == ["offline", "local:small.gguf"]
