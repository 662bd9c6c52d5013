"""Items as routes and commands show them: a question without its key."""

from __future__ import annotations

from helix.library.access import Row

_SHOWN = {
    "choice": ("question", "options"), "true_false": ("statement",), "card": ("front", "back"),
    "lesson": ("title", "points", "text", "citations", "exercise"),
    "node": ("label", "parent", "at", "folded"),
}  # fmt: skip


def item_view(item: Row) -> Row:
    """An item's row with those keys of its body that a learner may see before answering.

    The sources of a question show its answer, so they are left out too; an attempt shows them.
    """
    is_question = item["kind"] in ("choice", "true_false")
    body = {name: item["body"].get(name) for name in _SHOWN[item["kind"]]}
    return {**item, "body": body, "sources": [] if is_question else item["sources"]}


def node_view(item: Row) -> Row:
    """A node of a map: its position, and its spans."""
    body = item["body"]
    at = body.get("at") or [None, None]
    return {
        "id": item["id"], "parent": body.get("parent"), "label": body["label"], "x": at[0],
        "y": at[1], "folded": bool(body.get("folded")), "stale": item["stale"],
        "spans": item["sources"],
    }  # fmt: skip
