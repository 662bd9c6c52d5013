"""Speech to text: by the model that answers, if it takes audio, or by Whisper on this machine."""

from __future__ import annotations

import asyncio
import io
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, MessageRole, TextBlock

from helix.errors import HelixError, SettingsError, UpstreamError
from helix.library.errors import TooLarge
from helix.providers.base import LanguageModel, model_failures
from helix.settings import Settings
from helix.settings.prompts import prompt
from helix.study.voice.sounds import Sound

INLINE_MB = 14
"""Gemini takes requests of 20 MB, and a recording grows by a third on its way there."""
NOTHING = "NO SPEECH"
"""The model's reply for a recording without speech."""

_EXTRA = "helix-answers[voice]"
_logger = logging.getLogger(__name__)


class NoVoice(HelixError):
    """No model for speech to text is configured."""

    status = 501

    def __init__(self) -> None:
        super().__init__(
            "no model for speech is configured: set HELIX_LLM to gemini, or HELIX_VOICE_MODEL to"
            " the folder of a Whisper model"
        )


class Transcriber(Protocol):
    """Transcribes speech; stores nothing."""

    async def text_of(self, sound: Sound, data: bytes) -> str:
        """The words of the recording; empty where there is no speech.

        Raises:
            UpstreamError: the model failed.
            TooLarge: the recording is larger than the model takes.
        """
        ...

    async def aclose(self) -> None:
        """Release its threads and memory."""
        ...


class ModelTranscriber:
    """Transcribes by ``llm``, whose owner closes it: the model's service gets the recording."""

    def __init__(self, llm: LanguageModel) -> None:
        self._llm = llm

    async def text_of(self, sound: Sound, data: bytes) -> str:
        """The words of a recording, as Transcriber has it."""
        if len(data) > INLINE_MB * 2**20:
            raise TooLarge(f"the model takes {INLINE_MB} MB of sound at most: speak shorter")
        # LlamaIndex's Gemini has no AudioBlock (0.11.3); of a document it sends bytes and type
        block = DocumentBlock(data=io.BytesIO(data), document_mimetype=sound.type, title="speech")
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=prompt("transcription")),
            ChatMessage(role=MessageRole.USER, blocks=[block, TextBlock(text="The recording.")]),
        ]
        with model_failures(self._llm):
            reply = await self._llm.reply(messages, **self._llm.brief)
        text = (reply.message.content or "").strip()
        return "" if text.strip(".") == NOTHING else text

    async def aclose(self) -> None:
        """Do nothing: it holds nothing."""


class WhisperTranscriber:
    """Transcribes by faster-whisper in a thread of its own; the model is loaded on first use."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="helix-voice")

    @cached_property
    def _model(self) -> Any:
        whisper = import_module("faster_whisper")  # of the extra `voice`; importing takes a second
        return whisper.WhisperModel(
            self._folder, device="auto", compute_type="default", local_files_only=True
        )

    async def text_of(self, sound: Sound, data: bytes) -> str:
        """The words of a recording, as Transcriber has it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._text_of, data)

    def _text_of(self, data: bytes) -> str:
        try:
            segments, _ = self._model.transcribe(io.BytesIO(data), vad_filter=False)
            return " ".join(segment.text.strip() for segment in segments).strip()
        except ImportError as error:
            raise UpstreamError(
                f"Whisper's packages cannot be loaded ({error.name}): pip install '{_EXTRA}'"
            ) from error
        except Exception as error:
            _logger.warning("Whisper failed: %s", type(error).__name__)
            raise UpstreamError(f"Whisper failed ({type(error).__name__})") from error

    async def aclose(self) -> None:
        """End its thread, without waiting for a transcription under way."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def build_transcriber(settings: Settings, llm: LanguageModel) -> Transcriber | None:
    """The transcriber of HELIX_VOICE_MODEL, else that of ``llm`` if it takes audio, else None.

    Nothing is loaded or downloaded.

    Raises:
        SettingsError: the folder has no model, or the extra ``voice`` is not installed.
    """
    if settings.voice_model is None:
        return ModelTranscriber(llm) if llm.hears else None
    folder = Path(settings.voice_model)
    if not (folder / "model.bin").is_file():
        raise SettingsError(
            "HELIX_VOICE_MODEL names no folder with a model.bin: set it to that of a Whisper model"
            " for CTranslate2, or leave it out"
        )
    if find_spec("faster_whisper") is None:
        raise SettingsError(
            f"HELIX_VOICE_MODEL needs a package that is not installed: pip install '{_EXTRA}'"
        )
    return WhisperTranscriber(str(folder))
