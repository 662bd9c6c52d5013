"""Reasons for a refusal, or why no document fits, and remedies, in the words of commands."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from helix.commands.console import one_line
from helix.commands.service.answers import AnswerService, Query
from helix.commands.service.documents import LibraryService
from helix.domain.citations import place_of, snippet
from helix.domain.conditions import Condition
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError

_CLOSEST = 3
_LABELS = 8
_PASSAGE = 160
"""Characters of a passage that are shown."""
_SHOWN = 8


class NothingToAsk(HelixError):
    """The question names a label, document or tenant that nothing can be answered from."""


async def check_scope(
    library: AnswerService, query: Query, tenant: str, answer: Mapping[str, Any]
) -> None:
    """Return where a refusal is about the documents, not about what the question names.

    Raises:
        NothingToAsk: the library is or was empty, or there is no such label, document or tenant.
    """
    if answer["reason"] == "no_documents":
        if query.as_of is not None:
            raise NothingToAsk(
                f"the library has no document that was there at {query.as_of.isoformat()}: ask of"
                " a later moment, or without --as-of"
            )
        if tenant == DEFAULT_TENANT:
            raise NothingToAsk("the library is empty: `helix ingest PATH` brings documents in")
        raise NothingToAsk(
            f"the tenant {tenant} has no documents: `helix ingest --tenant {tenant} PATH` brings"
            " some in"
        )
    if answer["reason"] != "filtered_empty":
        return
    if query.tags:
        await _check_labels(library, query.tags)
    if query.where:
        keys = ", ".join(one.key for one in query.where)
        fits = f"no document fits --where ({one_line(keys)}): `helix documents -w …`"
        raise NothingToAsk(await unmet_condition(library, query.where) or fits)
    for document_id in query.document_ids or ():
        document = await library.get_document(document_id, with_text=False)
        if document["status"] != "ready":
            raise NothingToAsk(
                f'"{one_line(document["title"])}" cannot be asked: it is {document["status"]}'
                + (f" ({one_line(document['error'])})" if document["error"] else "")
            )


async def _check_labels(library: AnswerService, tags: tuple[str, ...]) -> None:
    labels = [str(label["name"]) for label in (await library.summary())["labels"]]
    for tag in tags:
        if tag in labels:
            continue
        close = difflib.get_close_matches(tag, labels, n=1)
        if close:
            hint = f"is it {close[0]}?"
        elif labels:
            hint = f"there are {', '.join(labels[:_LABELS])}"
        else:
            hint = "none has a label; `helix documents tag NAME --add TAG` puts one on"
        raise NothingToAsk(f"no document has the label {one_line(tag)}: {one_line(hint)}")
    if len(tags) > 1:
        raise NothingToAsk(f"no document has all of the labels {', '.join(tags)}")


def refusal_lines(answer: Mapping[str, Any]) -> list[str]:
    """The explanation of a refusal, and what may help; empty for an answer."""
    if answer["reason"] == "no_documents":
        return ["Nothing is ingested yet: `helix ingest PATH` brings files in."]
    lines = [one_line(answer["reason_text"])] if answer["reason_text"] else []
    if answer["clarifying_question"]:
        lines.append(one_line(answer["clarifying_question"]))
    if scope := answer["suggested_scope"]:
        options = " ".join(f'--document "{one_line(each["title"])}"' for each in scope)
        lines.append(f"Ask only what it names: helix ask {options} …")
    told = sorted(answer["closest"] or [], key=lambda passage: not passage.get("likely"))
    for title, passages in groupby(told[:_CLOSEST], _title):
        lines.append(title)
        for passage in passages:
            where = place_of(passage["title"], passage["heading_path"], passage["label"])
            lines += [f"  {one_line(where)}", f"    {snippet(one_line(passage['text']), _PASSAGE)}"]
    return lines


def _title(passage: Mapping[str, Any]) -> str:
    return "This may still answer it:" if passage.get("likely") else "Closest:"


async def unmet_condition(library: LibraryService, conditions: Sequence[Condition]) -> str:
    """The reason, as words for an error; empty where each condition is of keys that there are."""
    keys = (await library.summary())["metadata"] if conditions else []
    kinds = {str(key["name"]): key["kinds"] for key in keys}
    return next(filter(None, (_mistake(one, kinds) for one in conditions)), "")


def _mistake(one: Condition, kinds: Mapping[str, Sequence[str]]) -> str:
    """The mistake in a condition, by the kinds that the values of each key have."""
    if one.op == "!=" or not one.wanted:
        return ""  # documents without the key fit too
    if one.key not in kinds:
        return f"no document has the metadata {one.key}: {one_line(_known(one.key, list(kinds)))}"
    if one.kinds and not set(one.kinds) & set(kinds[one.key]):
        has, compared = " or ".join(kinds[one.key]), " or ".join(one.kinds)
        return f"--where compares {one.key} with a {compared}; its values are of type {has}"
    return ""


def _known(key: str, keys: list[str]) -> str:
    if not keys:
        return "none has any; `helix documents set NAME KEY=VALUE` gives it"
    close = difflib.get_close_matches(key, keys, n=1)
    more = " …" if len(keys) > _SHOWN else ""
    return f"{f'is it {close[0]}? ' if close else ''}There are {', '.join(keys[:_SHOWN])}{more}"
