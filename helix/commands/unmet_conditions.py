"""Reasons why no document fits conditions on metadata, as ``--where`` has them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from helix.commands.console import one_line
from helix.commands.service.documents import LibraryService
from helix.domain.conditions import Condition

_SHOWN = 8


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
