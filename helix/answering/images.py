"""Questions about an image: it is the context, no document is searched and nothing is cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

from helix.domain.history import IMAGE_HISTORY_RULES
from helix.errors import HelixError, UpstreamError
from helix.providers.base import LanguageModel, model_failures
from helix.settings.prompts import prompt

_HEIC_BRANDS = frozenset((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"))
_HEIF_BRANDS = frozenset((b"mif1", b"msf1", b"heif"))


KINDS = "PNG, JPEG, WebP, HEIC or HEIF"
"""The images that are taken."""
_OTHERS = {
    b"GIF87a": "GIF", b"GIF89a": "GIF", b"BM": "BMP", b"II*\x00": "TIFF", b"MM\x00*": "TIFF",
    b"\x00\x00\x01\x00": "ICO",
}  # fmt: skip
"""Images that models do not take, by their first bytes."""


class ImagesNotSupported(HelixError):
    """The configured model takes no images."""

    status = 501

    def __init__(self, identity: str) -> None:
        kind = identity.partition(":")[0]
        super().__init__(
            f"the {kind} model cannot look at images: set HELIX_LLM to one that can, such as gemini"
        )


@dataclass(frozen=True)
class UploadedImage:
    """An image as it was uploaded; ``type`` is its MIME type by ``image_type``."""

    data: bytes
    type: str


def image_messages(
    question: str, images: Sequence[UploadedImage], before: str = ""
) -> list[ChatMessage]:
    """The messages of a question about ``images``: rules, the history if any, then the user turn.

    ``before`` is the history as ``helix.domain.history.Memory`` has it.
    """
    rules, history = prompt("image"), []
    if before:
        rules = f"{rules}\n{IMAGE_HISTORY_RULES}"
        history = [ChatMessage(role=MessageRole.USER, content=before)]
    shown = [ImageBlock(image=each.data, image_mimetype=each.type) for each in images]
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=rules),
        *history,
        ChatMessage(role=MessageRole.USER, blocks=[*shown, TextBlock(text=question)]),
    ]


async def ask_about_image(llm: LanguageModel, question: str, image: UploadedImage) -> str:
    """The answer of the model about ``image``; the model is asked once, without documents.

    Raises:
        ImagesNotSupported: the model takes no images.
        UpstreamError: the model failed, or its answer is blank.
    """
    if not llm.sees:
        raise ImagesNotSupported(llm.identity)
    with model_failures(llm):
        reply = await llm.reply(image_messages(question, [image]))
    text = reply.message.content or ""
    if not text.strip():
        raise UpstreamError("the model gave no answer: try again")
    return text


def image_type(data: bytes) -> str | None:
    """The MIME type of the image ``data``, or None where it is no image that models take.

    Only PNG, JPEG, WebP, HEIC and HEIF (Gemini takes no GIF), by the bytes alone. A signature is
    not enough: what has to follow it must be there too.
    """
    checks = {"image/png": _is_png, "image/jpeg": _is_jpeg, "image/webp": _is_webp}
    return next((name for name, check in checks.items() if check(data)), None) or _heif_type(data)


def not_taken(data: bytes) -> str:
    """The refusal of what ``image_type`` has no type for; it names the kinds to a real image."""
    name = next((name for first, name in _OTHERS.items() if data.startswith(first)), None)
    if data[4:12] == b"ftypavif":
        name = "AVIF"
    said = f": {name} images are not taken, send {KINDS}" if name else ""
    return f"unsupported media type{said}"  # the contract has these words for what is no image


def _is_png(data: bytes) -> bool:
    """PNG, section 5.2 and 11.2.1: the signature, then a header chunk of 13 bytes."""
    sizes = data[16:20], data[20:24]
    return data.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") and all(
        len(size) == 4 and any(size) for size in sizes
    )


def _is_jpeg(data: bytes) -> bool:
    """ITU T.81, annex B: start of image, a segment with its length, and after it another marker."""
    after = 4 + int.from_bytes(data[4:6], "big")
    return data.startswith(b"\xff\xd8\xff") and data[after : after + 1] == b"\xff"


def _is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP" and data[12:15] == b"VP8"


def _heif_type(data: bytes) -> str | None:
    """ISO 14496-12: the first box is ``ftyp``, and one of its brands says what it is."""
    length = int.from_bytes(data[:4], "big")
    if data[4:8] != b"ftyp" or not 16 <= length <= min(len(data), 1024):
        return None
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, length, 4))}
    if brands & _HEIC_BRANDS:
        return "image/heic"
    return "image/heif" if brands & _HEIF_BRANDS and b"avif" not in brands else None
