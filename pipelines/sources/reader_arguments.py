"""The arguments of a LlamaIndex reader, as a JSON or TOML file has them.

[init]                       # of the class
base_url = "https://wiki.example.com"
api_token = "…"
[load]                       # of load_data
space_key = "HR"
[documents]                  # where a document's metadata have what Helix asks for
key = "page_id"              # its lasting id, where it has none of its own
modified = "updated_at"
title = "title"
url = "link"
format = "md"                # how its text is written: md (default), txt or html
[pages]                      # of a reader that loads a part at a time
offset = "start_at"
limit = "max_results"
size = 100
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.sources.base import SourceError


def refuse_sign_ins() -> None:
    """Have Google's client refuse what it would wait for without end, in this process.

    Its flow opens a browser where the reader runs, and listens for the answer with no time limit.
    """
    with suppress(ImportError):  # of no reader of Google then
        from google_auth_oauthlib.flow import InstalledAppFlow

        InstalledAppFlow.run_local_server = _refused


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise SourceError(
        "the reader wants somebody to sign in, and nobody can where it runs: give it a"
        " service_account_key, or an authorized_user_info that was made elsewhere"
    )


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fields(_Part):
    """The names that a document's metadata have for what is asked for; empty: the usual ones."""

    key: str = ""
    modified: str = ""
    title: str = ""
    url: str = ""
    format: Literal["md", "txt", "html"] = "md"


class Pages(_Part):
    """The arguments of load_data that say where it begins and how much it loads."""

    offset: str
    limit: str
    size: int = Field(100, ge=1)


class Arguments(_Part):
    """The whole file."""

    init: dict[str, Any] = {}
    load: dict[str, Any] = {}
    documents: Fields = Fields()
    pages: Pages | None = None


def arguments_of(text: str) -> Arguments:
    """The arguments that ``text`` is, JSON where it begins with a brace.

    Raises:
        SourceError: it is neither, or has parts that there are none of; without its values.
    """
    try:
        given = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
        return Arguments.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise SourceError(f"the reader's arguments: {place}: {first['msg'].lower()}") from None
    except ValueError:
        raise SourceError("the reader's arguments are neither JSON nor TOML") from None


def texts_in(value: object) -> Iterator[str]:
    """Every text in ``value``, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)
