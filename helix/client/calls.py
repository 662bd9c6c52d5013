"""The requests of the clients as values; nothing here sends any."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

from helix.errors import BadRequest

Json = Mapping[str, Any]
File = str | Path | tuple[str, bytes]
"""A file to upload: its path, or a name and its bytes."""


class QuestionOptions(TypedDict, total=False):
    """The options of a question, as POST /v1/query has them; ``tags`` is a key of ``filters``."""

    document_ids: Sequence[int]
    tags: Sequence[str]
    filters: Mapping[str, Any]
    space: str
    top_k: int
    conversation_id: str
    verdict: bool
    debug: bool
    mode: str
    model: str
    as_of: datetime | str
    images: Sequence[str]


class SearchOptions(TypedDict, total=False):
    """The options of a search, as GET /v1/search has them; times are RFC 3339 as text.

    ``where`` are conditions on metadata such as ``year>=2024``.
    """

    top_k: int
    document_ids: Sequence[int]
    tags: Sequence[str]
    space: str
    source_prefix: str
    company: str
    kind: str
    since: datetime | str
    until: datetime | str
    as_of: datetime | str
    where: Sequence[str]


class UploadOptions(TypedDict, total=False):
    """The options of an upload, as POST /v1/documents has them."""

    title: str
    source_uri: str
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    space: str


@dataclass(frozen=True)
class Call:
    """One request. ``repeatable``: it may be sent again where its outcome is unknown.

    ``json`` or ``form`` is its body. The tenant stands in the body, or else in the address.
    """

    method: str
    path: str
    params: Json = field(default_factory=dict)
    json: Json | None = None
    form: Json | None = None
    files: Sequence[tuple[str, tuple[str, bytes]]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = False
    tenant_in_body: bool = False

    def of(self, tenant: str | None) -> Call:
        """The same request for a tenant; None leaves the tenant to the key."""
        if tenant is None:
            return self
        tenant_field = {"tenant_id": tenant}
        if self.form is not None:
            return replace(self, form={**self.form, **tenant_field})
        if self.tenant_in_body:
            return replace(self, json={**(self.json or {}), **tenant_field})
        return replace(self, params={**self.params, **tenant_field})


def get(path: str, **params: Any) -> Call:
    """A GET request."""
    given = {key: it for key, it in params.items() if it not in (None, "")}
    return Call("GET", path, given, repeatable=True)


def search(query: str, options: SearchOptions) -> Call:
    """A search for passages: GET /v1/search.

    Raises:
        BadRequest: ``document_ids`` or ``tags`` is empty, which an address cannot say.
    """
    params = _with_texts(options)
    for name, singular in (("document_ids", "document_id"), ("tags", "tag")):
        if (chosen := params.pop(name, None)) is not None:
            if not chosen:
                raise BadRequest(f"{name} is empty: leave it out to search all documents")
            params[singular] = list(chosen)
    return get("/v1/search", q=query, **params)


def query(question: str, options: QuestionOptions, *, stream: bool = False) -> Call:
    """A question: POST /v1/query."""
    body = _body(question, options) | ({"stream": True} if stream else {})
    return Call("POST", "/v1/query", json=body, tenant_in_body=True)


def turn(
    conversation_id: str,
    question: str,
    options: QuestionOptions,
    replaced_message: int | None = None,
) -> Call:
    """A question of a conversation, which waits for the one before it.

    It replaces the message ``replaced_message``; without a question, that message's question is
    asked again.
    """
    path = f"/v1/conversations/{conversation_id}/messages"
    if replaced_message is not None:
        path += f"/{replaced_message}/{'edit' if question else 'regenerate'}"
    body = _body(question, options) | {"wait": True}
    if not question:
        kept = ("wait", "debug", "verdict", "mode", "model")
        body = {name: body[name] for name in kept if name in body}
    return Call("POST", path, json=body, tenant_in_body=True)


def _body(question: str, options: QuestionOptions) -> dict[str, Any]:
    body = {"question": question, **_with_texts(options)}
    tags = body.pop("tags", None)
    if body.get("filters"):
        body["filters"] = _with_texts(body["filters"])
    if tags is not None:
        body["filters"] = {**(body.get("filters") or {}), "tags": list(tags)}
    for name in ("document_ids", "images"):
        if body.get(name) is not None:
            body[name] = list(body[name])
    return body


def _with_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their moments as RFC 3339 has them."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in options.items()
    }


def upload(files: Sequence[File], options: UploadOptions) -> Call:
    """An upload of files. The same bytes become one document, so it is repeatable.

    Raises:
        BadRequest: a file cannot be read, or the metadata are none.
    """
    parts = [("file", _name_and_bytes(each)) for each in files]
    form: dict[str, Any] = dict(options)
    if metadata := form.pop("metadata", None):
        try:
            form["metadata"] = json.dumps(metadata)
        except (TypeError, ValueError) as error:
            raise unsendable(error) from None
    return Call("POST", "/v1/documents", form=form, files=parts, repeatable=True)


def set_metadata(metadata: Json, ids: Sequence[int] | None, filters: Json) -> Call:
    """A change of the metadata of many documents."""
    chosen = {} if ids is None else {"ids": list(ids)}
    body = {"metadata": dict(metadata), **chosen}
    path = "/v1/documents/metadata"
    return Call("POST", path, filters, json=body, repeatable=True, tenant_in_body=True)


def run_events(run_id: int, after: str) -> Call:
    """The events of a run, from the one behind number ``after``."""
    headers = {"Last-Event-ID": after} if after else {}
    return Call("GET", f"/v1/runs/{run_id}/events", headers=headers, repeatable=True)


def _name_and_bytes(file: File) -> tuple[str, bytes]:
    if isinstance(file, tuple):
        return file
    try:
        return Path(file).name, Path(file).read_bytes()
    except (OSError, ValueError, TypeError) as error:  # a name with a NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadRequest(f"{str(file)!r} cannot be read: {reason}") from None


def unsendable(error: Exception) -> BadRequest:
    """The error for a value that no request can have, such as half of a surrogate pair."""
    return BadRequest(f"the request cannot be sent: {error}")
