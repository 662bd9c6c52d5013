"""The first problem of a request's body, for the routes of other people's formats."""

from __future__ import annotations

from pydantic import ValidationError


def first_problem(error: ValidationError) -> tuple[str, str]:
    """(place, problem) of the first problem, such as ``messages.0.role`` and ``Field required``.

    The place is empty where the body as a whole is malformed. The rejected value is in neither: it
    may be a secret.
    """
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"]
