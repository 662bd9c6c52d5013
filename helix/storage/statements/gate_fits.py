"""Fits of the gate, and the corpus that they were made on."""

# Chunks by the statistics of BM25: counting rows would read them all.
CORPUS = """
SELECT (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s)::bigint AS documents,
       (SELECT coalesce(sum(n), 0) FROM term_statistics
        WHERE tenant_id = %(tenant)s AND key = 0)::bigint AS chunks
"""

# With the chunks there are now: a fit of a corpus that has grown much is told of.
LATEST_FIT = """
SELECT f.embedder, f.max_distance, f.model, f.documents, f.chunks, f.target_risk, f.measured, (
           SELECT coalesce(sum(n), 0) FROM term_statistics
           WHERE tenant_id = %(tenant)s AND key = 0)::bigint AS chunks_now
FROM gate_fits f WHERE f.tenant_id = %(tenant)s ORDER BY f.id DESC LIMIT 1
"""

# Earlier fits stay: what an answer was measured by can be looked up.
RECORD_FIT = """
INSERT INTO gate_fits (tenant_id, embedder, max_distance, model, documents, chunks, target_risk,
                       measured)
VALUES (%(tenant)s, %(embedder)s, %(max_distance)s, %(model)s, %(documents)s, %(chunks)s,
        %(target_risk)s, %(measured)s)
RETURNING id
"""
