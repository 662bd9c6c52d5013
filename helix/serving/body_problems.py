"""Bodies in other people's formats: reading one, and the first problem of one that is malformed."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from helix.overload.fairness import off_loop_if_long

_BYTES_A_CHARACTER = 100
"""Bytes that are read in the time that a character is judged in: 2 MB take 45 ms."""
_Body = TypeVar("_Body", bound=BaseModel)


async def read_body(body: bytes, kind: type[_Body]) -> _Body:
    """The object of ``kind`` in ``body``, read off the event loop where it is large.

    Raises:
        ValidationError: it is malformed.
    """
    text = body.removeprefix(BOM_UTF8)
    return await off_loop_if_long(len(text) // _BYTES_A_CHARACTER, kind.model_validate_json, text)


def first_problem(error: ValidationError) -> tuple[str, str]:
    """(place, problem) of the first problem, such as ``messages.0.role`` and ``Field required``.

    The place is empty where the body as a whole is malformed. The rejected value is in neither: it
    may be a secret.
    """
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"]
