"""The SQL of a path of a conversation: a message and those above it, up to the first."""

from __future__ import annotations

# OFFSET 0: each message is looked up by its key. Where most conversations are short, a join would
# read all messages of a long one (1.1 ms of 1,000 turns, and 0.4 so).
PATH = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, 1 AS n FROM messages
    WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = %(leaf)s
    UNION ALL
    SELECT m.id, m.parent_id, p.n + 1 FROM path p, LATERAL (
        SELECT id, parent_id FROM messages
        WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = p.parent_id
        OFFSET 0) m
    WHERE p.n < %(most)s),
messages_of_path AS (
    SELECT m.*, p.n FROM path p, LATERAL (
        SELECT * FROM messages
        WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = p.id OFFSET 0) m)
"""
"""Defines ``messages_of_path``: the rows of ``messages`` on the path that ends in ``leaf``, at most
``most``; ``n`` is 1 at the leaf. Parameters: tenant, id (of the conversation), leaf, most."""
