"""Retention: off by default, and then only what is older than its setting."""

from __future__ import annotations

from typing import Any

import psycopg

from helix.serving.background_tasks import drop_old
from helix.settings import Settings, load_settings
from tests.support.fake_embedder import opened
from tests.support.sql_rows import count

_RUN = """
INSERT INTO runs (kind, status, finished_at)
VALUES ('paths', %s, now() - make_interval(days => %s)) RETURNING id
"""
_FILE = "INSERT INTO run_files (run_id, n, source_uri, status) VALUES (%s, 0, 'a', 'added')"
_ANSWER = "INSERT INTO answers (id, question, document_ids, receipt) VALUES (%s, 'q', '{}', '{}')"
_FEEDBACK = """
INSERT INTO feedback (answer_id, rating, created_at)
VALUES (%s, 'up', now() - make_interval(days => %s))
"""


def _settings(url: str, **days: Any) -> Settings:
    return load_settings(database_url=url, llm="offline", embedder="offline", **days)


async def test_what_is_old_goes_and_nothing_else(database_url: str) -> None:
    answer = "ab" * 16
    with psycopg.connect(database_url, autocommit=True) as connection:
        for status, days in [("done", 40)] * 45 + [("failed", 40), ("done", 5), ("running", 40)]:
            row = connection.execute(_RUN, (status, days)).fetchone()
            assert row is not None
            connection.execute(_FILE, row)
        connection.execute(_ANSWER, (answer,))
        for days in (40, 5):
            connection.execute(_FEEDBACK, (answer, days))
        async with opened(database_url) as store:
            names = ("audit_events", "usage_counts", "usage_days", "sessions", "versions")
            untouched = dict.fromkeys(names, 0)
            assert drop_old(store, _settings(database_url)) == untouched
            assert count(connection, "runs") == 48
            kept = _settings(database_url, feedback_days=30, run_days=30)
            assert drop_old(store, kept) == {**untouched, "feedback": 1, "runs": 46}
            assert drop_old(store, kept) == {**untouched, "feedback": 0, "runs": 0}
        left = connection.execute("SELECT status FROM runs ORDER BY id").fetchall()
        assert left == [("done",), ("running",)]
        assert count(connection, "run_files") == 2
        assert count(connection, "feedback") == 1 and count(connection, "answers") == 1
