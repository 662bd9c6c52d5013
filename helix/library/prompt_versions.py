"""A tenant's own prompts in the database: every version is kept, and the latest one is used."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from helix.domain.prompt import defuse
from helix.library.access import Connected, Library, Row, rows_of
from helix.library.errors import Conflict, NotFound
from helix.settings.prompts import (
    STYLE,
    BrokenPrompt,
    Override,
    Prompts,
    Template,
    template,
    templates,
)
from helix.storage.statements import prompts as sql
from helix.storage.statements.spaces import STYLE_OF
from helix.storage.tenant_connections import TenantConnections

_logger = logging.getLogger(__name__)


class PromptBook:
    """The prompts of tenants, read for each request: a change holds at once in every process."""

    def __init__(self, store: TenantConnections) -> None:
        self._store = store

    async def of(self, tenant: str, space: int | None = None) -> Prompts:
        """The prompts of ``tenant`` as they are now, with the style of ``space``.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        store = self._store.of(tenant)
        rows = await store.fetch(sql.CURRENT, {"tenant": tenant})
        if space is None:
            return Prompts(_overrides(rows))
        styles = await store.fetch(STYLE_OF, {"tenant": tenant, "id": space})
        return Prompts(_overrides(rows), style=_usable(styles[0]["style"]) if styles else "")

    async def at(self, tenant: str, references: Sequence[Mapping[str, Any]]) -> Prompts:
        """The prompts that a receipt names, each of the version that it names.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        tenant_versions = [each for each in references if each["version"] is not None]
        values = {
            "tenant": tenant,
            "names": [each["name"] for each in tenant_versions],
            "versions": [each["version"] for each in tenant_versions],
        }
        return Prompts(_overrides(await self._store.of(tenant).fetch(sql.NAMED, values)))


def _usable(style: str) -> str:
    """The style of a space, if it may stand in a prompt: it may have been stored unchecked."""
    try:
        return checked_text(STYLE, style) if style else ""
    except BrokenPrompt as error:
        _logger.warning("the style of a space is passed over: %s", error)
        return ""


def _overrides(rows: Sequence[Row]) -> dict[str, Override]:
    return {
        row["name"]: Override(row["version"], row["text"])
        for row in rows
        if row["text"] is not None
    }


async def list_prompts(library: Library) -> list[Row]:
    """Every prompt by its name, with the tenant's version where it has one."""
    return _summaries(await library.all_data(sql.CURRENT, {}))


def prompts_in(connection: Connected, tenant: str) -> list[Row]:
    """``list_prompts`` over a connection."""
    return _summaries(rows_of(connection, sql.CURRENT, {"tenant": tenant}))


def _summaries(rows: Sequence[Row]) -> list[Row]:
    current = {row["name"]: row for row in rows}
    return [_summary(shipped, current.get(shipped.name)) for shipped in templates().values()]


async def get_prompt(library: Library, name: str) -> Row:
    """One prompt with its texts and all versions, the latest first.

    Raises:
        NoSuchPrompt: there is none of this name.
    """
    return _details(template(name), await library.all_data(sql.VERSIONS, {"name": name}))


def prompt_in(connection: Connected, tenant: str, name: str) -> Row:
    """``get_prompt`` over a connection."""
    return _details(
        template(name), rows_of(connection, sql.VERSIONS, {"tenant": tenant, "name": name})
    )


def _details(shipped: Template, versions: Sequence[Row]) -> Row:
    current = versions[0] if versions else None
    text = shipped.text if current is None or current["text"] is None else current["text"]
    return {
        **_summary(shipped, current),
        "before": shipped.before, "text": text, "after": shipped.after, "shipped": shipped.text,
        "diff": difference(shipped.text, text),
        "versions": [
            {"version": row["version"], "text": row["text"], "author": row["author"],
             "created_at": row["created_at"].isoformat()}
            for row in versions
        ],
    }  # fmt: skip


def _summary(shipped: Template, row: Row | None) -> Row:
    tenant_versions = row is not None and row["text"] is not None
    return {
        "name": shipped.name, "title": shipped.title, "use": shipped.use,
        "placeholders": list(shipped.placeholders),
        "version": row["version"] if tenant_versions and row else None,
        "last_version": row["version"] if row else 0,
        "broken": _problem(shipped, row["text"]) if tenant_versions and row else None,
    }  # fmt: skip


def _problem(shipped: Template, text: str) -> str | None:
    try:
        shipped.check(text)
    except BrokenPrompt as error:
        return str(error)
    return None


def difference(before: str, after: str) -> list[str]:
    """The lines of a unified diff from one text to another; empty where they are the same."""
    return list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), "shipped", "own", lineterm="")
    )


def checked_text(name: str, text: str) -> str:
    """``text`` as it may be stored in place of the prompt ``name``.

    Raises:
        NoSuchPrompt: there is no prompt of this name.
        BrokenPrompt: it cannot be used; the message names the line.
    """
    text = text.replace("\r\n", "\n").strip("\n")
    template(name).check(text)
    for number, (line, defused) in enumerate(
        zip(text.split("\n"), defuse(text).split("\n"), strict=True), 1
    ):
        if line != defused:
            raise BrokenPrompt(f"line {number}: it reads like a delimiter of sources")
    return text


def write(
    connection: Connected, tenant: str, name: str, text: str | None, author: str,
    last: int | None = None,
) -> int:  # fmt: skip
    """Add a version inside the caller's transaction; its number. ``text`` None: the shipped one.

    ``last`` is the latest version that the writer knows of; None: whatever it is.

    Raises:
        NoSuchPrompt, BrokenPrompt: as checked_text does.
        Conflict: there is a later version than ``last``.
    """
    text = None if text is None else checked_text(name, text)
    template(name)
    values = {"tenant": tenant, "name": name, "text": text, "author": author}
    ((latest,),) = connection.execute(sql.LAST, values).fetchall()
    if last is not None and last != latest:
        raise Conflict(f"{name} has version {latest} by now: look at it, then write again")
    row = connection.execute(sql.INSERT, values | {"version": latest + 1}).fetchone()
    if row is None:
        raise Conflict(f"somebody else is writing {name}: look at it, then write again")
    return int(latest) + 1


def roll_back(connection: Connected, tenant: str, name: str, version: int, author: str) -> int:
    """Add a version with the text of an earlier one; its number.

    Raises:
        NotFound: the prompt has no such version.
        BrokenPrompt: its text cannot be used any more.
    """
    template(name)
    for row in rows_of(connection, sql.VERSIONS, {"tenant": tenant, "name": name}):
        if row["version"] == version:
            return write(connection, tenant, name, row["text"], author)
    raise NotFound(f"the prompt {name} has no version {version}")
