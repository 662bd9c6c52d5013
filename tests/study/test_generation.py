"""Sets made without a model: every item stands on a byte-checked span, and goes with it."""

from __future__ import annotations

from helix.store import ChunkStore
from helix.study.items import BLANK, Choice, item_of
from tests.study.conftest import MakeSet
from tests.support.fake_embedder import rows
from tests.support.query_service import store_text
from tests.support.study_texts import BRIDGE, FERRY

TEXTS = {"Halden Bridge": BRIDGE, "Halden Ferry": FERRY}


def test_a_quiz_is_of_both_documents_and_each_question_rests_on_its_span(
    make_set: MakeSet, store: ChunkStore, texts: dict[str, int]
) -> None:
    made, items = make_set(kind="quiz", count=8)
    assert (made["made"], made["wanted"], made["stale"]) == (len(items), 8, 0)
    assert len(items) == 8 and made["title"] == "Halden Bridge, Halden Ferry"
    assert {item["kind"] for item in items} == {"choice", "true_false"}
    assert {s["document_id"] for item in items for s in item["sources"]} == set(texts.values())
    for item in items:
        for source in item["sources"]:
            text = TEXTS[source["title"]]
            assert text[source["start"] : source["end"]] == source["quote"] != ""
        read = item_of(item["kind"], item["body"])
        if isinstance(read, Choice):
            whole = BRIDGE + FERRY
            assert read.options[read.key] in whole and read.statement.count(BLANK) == 1
            assert read.filled(read.key) in whole
            assert not any(read.filled(n) in whole for n in range(4) if n != read.key)
    again, same = make_set(kind="quiz", count=8)
    assert [item["body"] for item in same] == [item["body"] for item in items]
    assert again["id"] != made["id"]


def test_cards_never_say_their_back_on_their_front(make_set: MakeSet) -> None:
    _, items = make_set(kind="cards", count=8, document_ids=None)
    fronts = [item["body"]["front"] for item in items]
    assert len(set(fronts)) == len(items) == 8
    for item in items:
        assert item["body"]["back"] in (BRIDGE + FERRY)
        assert item["sources"][0]["quote"] == item["body"]["back"]


def test_only_documents_of_the_scope_are_asked_about(
    make_set: MakeSet, texts: dict[str, int]
) -> None:
    made, items = make_set(kind="quiz", count=5, document_ids=[texts["ferry"]])
    assert {s["document_id"] for item in items for s in item["sources"]} == {texts["ferry"]}
    assert made["title"] == "Halden Ferry"


def test_items_go_with_their_document_and_are_stale_when_it_is_another_version(
    make_set: MakeSet, store: ChunkStore, texts: dict[str, int]
) -> None:
    for kind in ("quiz", "cards", "workshop", "map"):
        made, items = make_set(kind=kind)
        assert items, kind
        assert made["stale"] == 0
    store_text(store, "halden/bridge.md", "Halden Bridge", BRIDGE.replace("1934", "1936"))
    stale = "SELECT count(*) FROM study_sources s JOIN documents d ON d.id = s.document_id WHERE"
    ((changed,),) = rows(store.connections.url, f"{stale} d.content_hash <> s.content_hash")
    ((of_bridge,),) = rows(store.connections.url, f"{stale} d.id = %s", texts["bridge"])
    assert changed == of_bridge > 0
    rows(store.connections.url, "DELETE FROM documents WHERE id = %s RETURNING id", texts["bridge"])
    left = rows(store.connections.url, "SELECT DISTINCT document_id FROM study_sources")
    assert left == [(texts["ferry"],)]
    orphans = "SELECT id FROM study_items i WHERE NOT EXISTS (SELECT FROM study_sources s WHERE"
    assert rows(store.connections.url, f"{orphans} s.item_id = i.id)") == []
    rows(store.connections.url, "DELETE FROM documents RETURNING id")
    assert rows(store.connections.url, "SELECT id FROM study_items") == []


def test_a_workshop_has_lessons_and_a_map_is_one_tree(make_set: MakeSet) -> None:
    _, lessons = make_set(kind="workshop", count=3)
    assert 2 <= len(lessons) <= 3 and all(lesson["sources"] for lesson in lessons)
    _, nodes = make_set(kind="map")
    by_id = {node["id"]: node for node in nodes}
    assert [node["body"]["parent"] for node in nodes].count(None) == 1
    assert all(n["body"]["parent"] in by_id for n in nodes if n["body"]["parent"] is not None)
    assert 4 <= len(nodes) <= 60 and all(node["sources"] for node in nodes)
