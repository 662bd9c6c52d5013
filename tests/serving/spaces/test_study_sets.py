"""Study sets and spaces: who made one, or may read all of its documents, sees and changes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.serving.spaces.conftest import TENANT, Spaces
from tests.support.tenants import marker

NEVER = 987654321


@pytest.fixture
def sets(spaces: Spaces, module_database_url: str) -> Iterator[dict[str, int]]:
    """The ids of sets that are ordered: by two keys, of either document, of both and of all."""
    orders = {
        "open": ("all", [spaces.open.document]),
        "secret": ("all", [spaces.secret.document]),
        "both": ("all", [spaces.open.document, spaces.secret.document]),
        "whole": ("all", None),
        "own": ("board", [spaces.secret.document]),
    }
    yield {name: _ordered(spaces, key, name, ids) for name, (key, ids) in orders.items()}
    with psycopg.connect(module_database_url) as connection:
        connection.execute("DELETE FROM study_sets WHERE title <> %s", (marker(TENANT),))
        connection.execute("DELETE FROM runs WHERE kind = 'study'")


def _ordered(spaces: Spaces, key: str, title: str, documents: list[int] | None) -> int:
    body = {"kind": "quiz", "count": 5, "title": title, "document_ids": documents}
    told = spaces.send(key, "POST", "/v1/study", json=body)
    assert told.status_code == 202, told.text
    return int(told.json()["id"])


def _listed(spaces: Spaces, key: str, **params: Any) -> set[str]:
    told = spaces.send(key, "GET", "/v1/study", params=params).json()["sets"]
    return {one["title"] for one in told if not one["title"].startswith("The vault")}


def test_sets_are_listed_to_whom_their_documents_are(spaces: Spaces, sets: dict[str, int]) -> None:
    assert _listed(spaces, "all") == set(sets)
    assert _listed(spaces, "library") == {"open"}
    assert _listed(spaces, "board") == {"secret", "own"}


def test_a_hidden_set_is_neither_renamed_nor_deleted_nor_is_its_run_seen(
    spaces: Spaces, sets: dict[str, int]
) -> None:
    run = spaces.send("all", "GET", f"/v1/study/{sets['secret']}").json()["run_id"]
    for name in ("secret", "both", "whole", "own"):
        for method, sent in (("GET", {}), ("PATCH", {"json": {"title": "mine"}}), ("DELETE", {})):
            told = spaces.send("library", method, f"/v1/study/{sets[name]}", **sent)
            never = spaces.send("library", method, f"/v1/study/{NEVER}", **sent)
            assert told.status_code == never.status_code == 404
            assert told.text.replace(str(sets[name]), str(NEVER)) == never.text
    assert _listed(spaces, "all") == set(sets)
    assert spaces.send("library", "GET", f"/v1/runs/{run}").status_code == 404
    assert spaces.send("library", "POST", f"/v1/runs/{run}/cancel").status_code == 404
    assert spaces.send("board", "GET", f"/v1/runs/{run}").status_code == 200
    at = f"/v1/study/{sets['open']}"
    assert spaces.send("library", "PATCH", at, json={"title": "ours"}).json()["title"] == "ours"
    assert spaces.send("library", "DELETE", at).status_code == 204


def test_a_set_stays_its_makers_when_its_document_goes_elsewhere(
    spaces: Spaces, sets: dict[str, int]
) -> None:
    moved = {"move": [spaces.secret.document]}
    spaces.send("all", "POST", "/v1/spaces/0/documents", json=moved)
    try:
        assert _listed(spaces, "board") == {"own"}
        assert _listed(spaces, "library") == {"open", "secret", "both", "own"}
    finally:
        spaces.send("all", "POST", f"/v1/spaces/{spaces.board}/documents", json=moved)


def test_a_deck_from_a_file_is_its_makers_or_of_the_space_it_is_brought_into(
    spaces: Spaces,
) -> None:
    def brought(key: str, title: str, **params: Any) -> int:
        file = {"file": ("deck.csv", f"{title} front,{title} back".encode())}
        sent = {"files": file, "data": {"title": title}, "params": params}
        return int(spaces.send(key, "POST", "/v1/study/import", **sent).json()["id"])

    ids = [brought("board", "mine"), brought("all", "whole"),
           brought("all", "placed", space="Library")]  # fmt: skip
    assert _listed(spaces, "library", space="Library") == {"placed"}
    for key, seen in (("board", {"mine"}), ("library", {"placed"}),
                      ("all", {"mine", "whole", "placed"})):  # fmt: skip
        assert _listed(spaces, key) == seen
        due = spaces.send(key, "GET", "/v1/study/due").json()
        assert {card["body"]["front"].split()[0] for card in due["cards"]} == seen
        assert due["cards"] and due["new"] == len(seen)
    for set_id in ids:
        assert spaces.send("all", "DELETE", f"/v1/study/{set_id}").status_code == 204
