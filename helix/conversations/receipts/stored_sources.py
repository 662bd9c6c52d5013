"""A receipt against what is stored now: its citations verified, its prompt rebuilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from helix.conversations.questions import space_of_answer
from helix.conversations.receipts.receipt import Json, digest, prompt_digest
from helix.domain.context import Source, sources_of
from helix.domain.contract import GROUNDING_RULES, REFUSAL
from helix.domain.prompt import chat_messages
from helix.domain.records import Hit, tool_hit
from helix.domain.scope import MOMENT
from helix.domain.tool_results import ToolResult
from helix.library.access import Library, Row
from helix.settings.prompts import Prompts
from helix.storage.statements import receipts as sql

Status = Literal["holds", "source changed", "source deleted"]
_WORST_LAST: tuple[Status, ...] = ("holds", "source changed", "source deleted")

PromptLoss = Literal["no prompt", "source deleted", "source changed", "rules changed"]
"""The reason for a lost prompt: retrieval refused; a document is gone; its text is another; or this
release makes another prompt of the same sources."""

_VERIFIED = ("n", "chunk_id", "document_id", "start", "end", "quote")


def of_moment(library: Library, receipt: Mapping[str, Any]) -> Library:
    """The library as it stood at the moment that the question of ``receipt`` was about."""
    moment = receipt["scope"].get(MOMENT)
    if not moment:
        return library
    at = datetime.fromisoformat(moment)
    return library.of(library.tenant, replace(library.reach, as_of=at))


async def verify_citations(library: Library, receipt: Mapping[str, Any]) -> Json:
    """``{"answer_id", "status", "citations": [{"n", …, "quote", "status"}]}``; the worst on top.

    A quote that is elsewhere in its document now has ``"now": {"start", "end"}`` besides. A
    document that the library lacks is looked for among those of the answer's own conversation.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    library = of_moment(library, receipt)
    cited = [one for one in receipt["citations"] if one["document_id"] is not None]
    rows = await library.rows(sql.CITATIONS, _columns(cited, quotes="quote")) if cited else []
    statuses = {row["n"]: row for row in rows}
    missing = [each for each in cited if statuses[each["n"]]["status"] == "source deleted"]
    if missing and (space := await space_of_answer(library, receipt["answer_id"])):
        attached_rows = await library.of(space).rows(
            sql.CITATIONS, _columns(missing, quotes="quote")
        )
        statuses |= {row["n"]: row for row in attached_rows}
    results = {one["n"]: ToolResult.of_json(one["tool"]) for one in _of_tools(receipt)}
    citations = [
        _verified(each, statuses[each["n"]]) if each["n"] in statuses else _of_tool(each, results)
        for each in receipt["citations"]
    ]
    worst = max((_WORST_LAST.index(each["status"]) for each in citations), default=0)
    return {
        "answer_id": receipt["answer_id"],
        "status": _WORST_LAST[worst],
        "citations": citations,
    }


def _of_tools(receipt: Mapping[str, Any]) -> list[Json]:
    """The sources of a receipt that are results of tools."""
    return [one for one in receipt["index"]["sources"] if one.get("tool")]


def _of_tool(citation: Json, results: Mapping[int, ToolResult]) -> Json:
    """A citation of a tool's result: nothing stored changes it, and a calculation is made again.

    The result goes with a document that its answer was made of.
    """
    result, status = results.get(citation["n"]), "source deleted"
    if result:
        status = "holds" if result.holds() else "source changed"
    return {key: citation[key] for key in _VERIFIED} | {"status": status}


def _verified(citation: Json, row: Json) -> Json:
    verified = {key: citation[key] for key in _VERIFIED} | {"status": row["status"]}
    if row["status"] == "source changed" and row["now_at"] is not None:
        end = row["now_at"] + len(citation["quote"])
        verified["now"] = {"start": row["now_at"], "end": end}
    return verified


@dataclass(frozen=True)
class RebuiltPrompt:
    """The sources of a receipt's prompt as they were, or why the prompt is lost.

    ``states`` says of each source by its number: "same", "source changed" or "source deleted".
    """

    sources: list[Source]
    lost: PromptLoss | None
    states: Mapping[int, str]


async def rebuild_prompt(
    library: Library, receipt: Mapping[str, Any], attached: str | None = None
) -> RebuiltPrompt:
    """The sources that ``receipt`` (read_receipt) names, if all are what they were.

    Those that are not in the library are looked for in ``attached``, where a conversation's own
    documents are.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if receipt["prompt_sha256"] is None:
        return RebuiltPrompt([], "no prompt", {})
    references: list[Json] = receipt["index"]["sources"]
    library = of_moment(library, receipt)
    rows = await _stored_rows(library, references, attached)
    sources: list[Source] = []
    states: dict[int, str] = {}
    for reference, row in zip(references, rows, strict=True):
        if tool := reference.get("tool"):
            (source,) = sources_of([tool_hit(ToolResult.of_json(tool), reference["n"])])
            sources.append(source)
            states[reference["n"]] = "same"
            continue
        texts = (text for text in (row["slice"], row["content"]) if text)
        text = next((text for text in texts if digest(text) == reference["sha256"]), None)
        if text is not None:
            sources.append(_source(reference, row, text))
            states[reference["n"]] = "same"
        else:
            states[reference["n"]] = "source changed" if row["there"] else "source deleted"
    lost: PromptLoss | None = None
    if "source deleted" in states.values():
        lost = "source deleted"
    elif "source changed" in states.values():
        lost = "source changed"
    elif prompt_digest(receipt["question"], sources) != receipt["prompt_sha256"]:
        lost = "rules changed"
    return RebuiltPrompt([] if lost else sources, lost, states)


async def _stored_rows(
    library: Library, references: Sequence[Json], attached: str | None
) -> list[Row]:
    if not references:
        return []
    rows = await library.rows(sql.SOURCES, _columns(references))
    if attached is None or all(row["there"] for row in rows):
        return rows
    attached_rows = await library.of(attached).rows(sql.SOURCES, _columns(references))
    return [row if row["there"] else other for row, other in zip(rows, attached_rows, strict=True)]


def prompt_json(
    receipt: Mapping[str, Any], sources: Sequence[Source], prompts: Prompts
) -> list[Json]:
    """The messages that the model was sent: ``[{"role", "content"}]``.

    ``prompts`` are those that the receipt names.
    """
    style = prompts.text("answering_style", {})
    writes = receipt.get("mode") == "write"
    grounding = prompts.text("writing", {"refusal": REFUSAL}) if writes else GROUNDING_RULES
    messages = chat_messages(receipt["question"], sources, style=style, grounding=grounding)
    return [{"role": message.role.value, "content": message.content} for message in messages]


def _columns(references: Sequence[Json], **more: str) -> Json:
    """The values of ``references`` as one array a column, for ``unnest``."""
    keys = {"numbers": "n", "documents": "document_id", "chunks": "chunk_id", "starts": "start",
            "ends": "end", **more}  # fmt: skip
    return {name: [reference[key] for reference in references] for name, key in keys.items()}


def _source(reference: Json, row: Json, text: str) -> Source:
    """The numbered source, as far as a prompt and a guard read it."""
    hit = Hit(
        reference["chunk_id"], reference["document_id"], row["title"] or "",
        row["source_uri"] or "", row["ordinal"] or 0, text, reference["start"], reference["end"],
        row["node_id"] or "", float("nan"),
    )  # fmt: skip
    return Source(hit, (hit,), text, reference["start"], reference["end"])
