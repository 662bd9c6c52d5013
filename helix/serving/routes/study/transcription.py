"""POST /v1/transcribe: a recorded question as text. Nothing of it is stored or logged."""

from __future__ import annotations

import asyncio
from functools import partial

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from helix.answering.pipeline import AnswerPipeline
from helix.errors import BadRequest
from helix.library.errors import TooLarge, UnsupportedMedia
from helix.overload.entry import place_for
from helix.overload.limits import MEGABYTE
from helix.serving.authentication import CurrentCaller, FormRoute
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.forms import FormLimits, form_body, named_tenant, read_form
from helix.serving.sse import TextJson
from helix.study.voice.sounds import Sound, sound_of
from helix.study.voice.transcription import NoVoice, Transcriber

MAX_MB, MAX_SECONDS = 25, 600
_LIMITS = FormLimits(
    file_bytes=MAX_MB * MEGABYTE,
    files=1,
    request_bytes=(MAX_MB + 1) * MEGABYTE,
    usage="the recording as multipart/form-data, field audio",
    remedy="speak shorter",
)
_BODY = form_body(
    "audio", audio={"type": "string", "format": "binary"}, tenant_id={"type": "string"}
)

router = APIRouter(prefix="/v1", route_class=FormRoute)


@router.post(
    "/transcribe",
    summary="Speech to text",
    response_class=Response,
    openapi_extra=_BODY,
    responses={
        413: {"description": f"Larger than {MAX_MB} MB, or longer than 10 minutes"},
        415: {"description": "Its bytes are no WebM, Ogg, MP4, WAV or FLAC recording"},
        501: {"description": "No model for speech is configured"},
    },
)
async def transcribe(request: Request, caller: CurrentCaller) -> Response:
    """The words of the recording: `{"text"}`, empty where there is no speech."""
    services = caller.services
    form = await read_form(request, _LIMITS)
    try:
        caller = caller.for_tenant(named_tenant(form))
        audio = form.get("audio")
        if audio is None:
            raise BadRequest(f"no recording came: send {_LIMITS.usage}")
        data = await audio.read() if isinstance(audio, UploadFile) else b""
    finally:
        await form.close()
    sound = await asyncio.to_thread(_checked, data)
    assert services.study is not None
    if (transcriber := services.study.transcriber) is None:
        raise NoVoice
    work = partial(_text, services.answering, transcriber, caller.tenant, sound, data)
    with place_for(request) as place:
        text = await run_unless_disconnected(request, place.run(work))
    if text is None:
        raise HTTPException(CLIENT_CLOSED_REQUEST, "the client left")
    return TextJson({"text": text})


async def _text(
    answering: AnswerPipeline, transcriber: Transcriber, tenant: str, sound: Sound, data: bytes
) -> str:
    with (await answering.prompts_of(tenant)).active():
        return await transcriber.text_of(sound, data)


def _checked(data: bytes) -> Sound:
    sound = sound_of(data)
    if sound is None:
        raise UnsupportedMedia("this is no recording in WebM, Ogg, MP4, WAV or FLAC")
    if sound.seconds > MAX_SECONDS:
        raise TooLarge("the recording is longer than 10 minutes, the limit: speak shorter")
    return sound
