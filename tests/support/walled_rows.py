"""Rows of two tenants in every table that has a wall between them."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from helix.library.run_files import NewFile, add_files
from helix.library.runs import create_run
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write


def fill_tenants(url: str) -> None:
    """Put rows of each of the tenants a and b into every table that has rows of a tenant."""

    def fill(store: ChunkStore) -> None:
        tenants = [store.of(tenant) for tenant in ("a", "b")]
        for own in tenants:
            write(own, record("same.txt", f"water of team{own.tenant}\n\nmountain"))
        with store.connection() as connection:
            connection.execute("SELECT fold_term_changes()")  # some are counts, some changes
        for own in tenants:
            write(own, record("more.txt", f"river of team{own.tenant}"))
            _add_other_rows(own)

    async def opened_to_fill() -> None:
        async with opened(url) as store:
            await asyncio.to_thread(fill, store)

    asyncio.run(opened_to_fill())


def _add_other_rows(own: ChunkStore) -> None:
    data = f"bytes of {own.tenant}".encode()
    digest = sha256(data).hexdigest()
    with own.transaction() as connection:
        connection.execute(
            "INSERT INTO document_sources (source_uri, document_id, content_hash)"
            " SELECT 'also.txt', min(id), '' FROM documents"
        )
        connection.execute(
            "INSERT INTO document_pages (document_id, number, width, height, start_char, end_char)"
            " SELECT min(id), 1, 612, 792, 0, 5 FROM documents"
        )
        connection.execute(
            "INSERT INTO document_tables (document_id, ordinal, start_char, end_char)"
            " SELECT min(id), 0, 0, 5 FROM documents"
        )
        connection.execute(
            "INSERT INTO document_names (document_id, kind, name)"
            " SELECT min(id), 'company', 'acme' FROM documents"
        )
        connection.execute("UPDATE documents SET metadata = '{\"year\": 2024}'")
        connection.execute(
            "INSERT INTO suggested_questions (document_id, question, is_supported, library)"
            " SELECT min(id), 'Which river?', true, '2' FROM documents"
        )
        connection.execute(
            "INSERT INTO files (content_hash, data, size) VALUES (%s, %s, %s)",
            (digest, data, len(data)),
        )
        connection.execute(
            "INSERT INTO loose_objects (place, content_hash) VALUES (%s, 'x')",
            (f"s3://b/{digest}",),
        )
        connection.execute("UPDATE documents SET file_hash = %s", (digest,))
        run_id = create_run(connection, "upload", tenant=own.tenant)
        add_files(connection, run_id, [NewFile("same.txt", file_hash=digest)])
        connection.execute(
            "INSERT INTO answers (id, question, document_ids, receipt)"
            " VALUES (%s, 'q', '{}', '{}')",
            (digest[:32],),
        )
        connection.execute(
            "INSERT INTO feedback (answer_id, rating) VALUES (%s, 'up')", (digest[:32],)
        )
        connection.execute("INSERT INTO conversations (id) VALUES ('c')")
        connection.execute(
            "INSERT INTO conversation_images (conversation_id, id, name, media, data)"
            " VALUES ('c', %s, 'p.png', 'image/png', 'x')",
            (digest,),
        )
        connection.execute(
            "INSERT INTO messages (conversation_id, branch, depth, question, answer_id)"
            " VALUES ('c', 1, 0, 'q', 'a')"
        )
        connection.execute(
            "INSERT INTO message_events (conversation_id, message_id, n, event, data)"
            " SELECT 'c', id, 1, 'token', '{}' FROM messages"
        )
        connection.execute(
            "INSERT INTO document_versions SELECT tenant_id, id, updated_at - interval '1 day',"
            " updated_at, title, source_uri, '', '', '', '', '', '[]', '{}', '[]' FROM documents"
        )
        connection.execute(
            "INSERT INTO chunk_versions (tenant_id, document_id, valid_to, id, node_id, content,"
            " embedding, metadata_, ordinal) SELECT c.tenant_id, c.document_id, d.updated_at, c.id,"
            " c.node_id, c.content, c.embedding, '{}', 0 FROM chunks c JOIN documents d"
            " ON d.id = c.document_id"
        )
        connection.execute(
            "INSERT INTO removals (document_id, spaces, added_at, text_sha256, file_sha256,"
            " characters) VALUES (1, '{0}', now(), '', '', 0)"
        )
        connection.execute("INSERT INTO prompt_versions (name, version) VALUES ('judge', 1)")
        connection.execute("INSERT INTO tenant_settings (model) VALUES ('offline')")
        connection.execute("INSERT INTO spaces (name) VALUES ('Board')")
        connection.execute(
            "WITH made AS (INSERT INTO sources (name, kind) VALUES ('s', 'folder') RETURNING id)"
            " INSERT INTO source_entries (source_id, key) SELECT id, 'same.txt' FROM made"
        )
        connection.execute(
            "INSERT INTO progress_sessions (learner, started_at, ended_at)"
            " VALUES ('', now(), now())"
        )
        connection.execute(
            "INSERT INTO progress_counts (learner, action, quarter, n)"
            " VALUES ('', 'question_asked', now(), 1)"
        )
        connection.execute("INSERT INTO study_sets (id, kind, wanted) VALUES (%s, 'cards', 1)",
                           (at := 1 + (own.tenant == "b"),))  # fmt: skip
        connection.execute(
            "INSERT INTO study_items (id, set_id, n, kind, body) VALUES (%(at)s, %(at)s, 1, 'card',"
            " '{}'), (%(at)s + 2, %(at)s, 2, 'card', '{}')",
            {"at": at},
        )
        connection.execute(
            "INSERT INTO study_sources (item_id, n, document_id, chunk_id, start_char, end_char,"
            " quote, content_hash, recipe) SELECT %s, 1, min(id), 1, 0, 5, 'water', '', ''"
            " FROM documents",
            (at,),
        )
        connection.execute("INSERT INTO study_attempts (set_id) VALUES (%s)", (at,))
        connection.execute(
            "INSERT INTO study_cards (item_id, card, due_at) VALUES (%s, '{}', now())", (at + 2,)
        )
        connection.execute(
            "INSERT INTO study_reviews (item_id, rating) VALUES (%s, 'good')", (at + 2,)
        )
        connection.execute(
            "INSERT INTO progress_totals (learner, action, n) VALUES ('', 'question_asked', 1)"
        )
        connection.execute(
            "INSERT INTO gate_fits (embedder, documents, chunks, target_risk)"
            " VALUES ('e', 1, 1, 0.05)"
        )
