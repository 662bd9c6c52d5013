"""POST /v1/transcribe: Gemini on the wire, Whisper's package played by a stand-in."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from helix.errors import SettingsError, UpstreamError
from helix.providers.factories import build_llm
from helix.settings import load_settings
from helix.settings.prompts import prompt
from helix.study.voice.transcription import INLINE_MB, WhisperTranscriber, build_transcriber
from tests.support.live_server import live
from tests.support.recordings import flac, wav, webm
from tests.support.vendor_packages import install
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, refused_key

URL = "/v1/transcribe"


def _send(client: httpx.Client, data: bytes) -> httpx.Response:
    return client.post(URL, files={"audio": ("speech", data, "text/plain")})


def test_gemini_gets_the_recording_with_its_own_type_and_the_rules(
    client: httpx.Client, wire: GeminiWire
) -> None:
    data = webm(2)
    wire.script(Answer(("How long is the", " refund?\n")), on="generate")
    told = _send(client, data)
    assert (told.status_code, told.json()) == (200, {"text": "How long is the refund?"})
    body = wire.received("generate")[-1].body
    assert body["systemInstruction"]["parts"][0]["text"] == prompt("transcription")
    sound = body["contents"][0]["parts"][0]["inlineData"]
    assert sound["mime_type"] == "audio/webm"
    assert base64.b64decode(sound["data"], altchars=b"-_") == data
    assert not wire.received("embed"), "it is not asked yet"

    wire.script(Answer(("NO SPEECH.",)), on="generate")
    assert _send(client, wav(1)).json() == {"text": ""}
    wire.script(refused_key(), on="generate")
    failed = _send(client, wav(1))
    assert failed.status_code == 503 and "GEMINI_API_KEY" in failed.json()["error"]


def test_what_cannot_be_written_down_is_refused_before_the_model(
    client: httpx.Client, wire: GeminiWire
) -> None:
    before = len(wire.requests)
    assert _send(client, b"<html>").status_code == 415
    long = _send(client, webm(601))
    assert long.status_code == 413 and "10 minutes" in long.json()["error"]
    assert _send(client, flac(599) + bytes(26 * 2**20)).status_code == 413
    heavy = _send(client, flac(599) + bytes(INLINE_MB * 2**20))
    assert heavy.status_code == 413 and f"{INLINE_MB} MB" in heavy.json()["error"]
    none = client.post(URL, files={"other": b"x"})
    assert none.status_code == 400 and "field audio" in none.json()["error"]
    assert client.post(URL, data={"audio": "words"}).status_code == 400
    assert len(wire.requests) == before


def test_where_nothing_hears_it_says_so(database_url: str) -> None:
    with live(database_url) as client:
        told = _send(client, wav(1))
        assert told.status_code == 501 and "HELIX_VOICE_MODEL" in told.json()["error"]
        assert client.get("/v1/about").json()["voice"] is False


async def test_whisper_is_loaded_with_the_first_recording_from_the_named_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[tuple[str, dict[str, Any]]] = []

    class WhisperModel:
        def __init__(self, folder: str, **options: Any) -> None:
            loaded.append((folder, options))

        def transcribe(self, audio: Any, **_: Any) -> Any:
            if not audio.read().startswith(b"RIFF"):
                raise ValueError("it quotes what was said")
            return iter([SimpleNamespace(text=" How long"), SimpleNamespace(text=" is it? ")]), None

    def settings(**more: Any) -> Any:
        return load_settings(
            database_url="embedded", llm="offline", embedder="offline", voice_model=str(tmp_path)
        )

    llm = build_llm(settings())
    with pytest.raises(SettingsError, match="HELIX_VOICE_MODEL names no folder"):
        build_transcriber(settings(), llm)
    (tmp_path / "model.bin").write_bytes(b"")
    monkeypatch.setattr("helix.study.voice.transcription.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"helix-answers\[voice\]"):
        build_transcriber(settings(), llm)
    monkeypatch.setattr("helix.study.voice.transcription.find_spec", lambda _: object())
    install(monkeypatch, "faster_whisper", "WhisperModel", WhisperModel)
    whisper = build_transcriber(settings(), llm)
    assert isinstance(whisper, WhisperTranscriber) and loaded == []
    sound = SimpleNamespace(type="audio/wav", seconds=1)
    for _ in range(2):
        assert await whisper.text_of(sound, wav(1)) == "How long is it?"  # type: ignore[arg-type]
    ((folder, options),) = loaded
    assert folder == str(tmp_path) and options["local_files_only"] is True
    with pytest.raises(Exception, match=r"^Whisper failed \(ValueError\)$"):
        await whisper.text_of(sound, b"other")  # type: ignore[arg-type]
    await whisper.aclose()
    monkeypatch.setitem(sys.modules, "faster_whisper", None)  # half an installation
    broken = build_transcriber(settings(), llm)
    assert broken is not None
    with pytest.raises(UpstreamError, match=r"faster_whisper.*helix-answers\[voice\]"):
        await broken.text_of(sound, wav(1))  # type: ignore[arg-type]
    await broken.aclose()
