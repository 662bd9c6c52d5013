"""Nodes of LlamaIndex code that knows no documents."""

# The document that nodes of code that knows none belong to.
ADOPT_DOCUMENT = """
INSERT INTO documents (tenant_id, source_uri, title, content_hash)
VALUES (%(tenant)s, %(source_uri)s, %(title)s, '')
ON CONFLICT (tenant_id, source_uri) DO UPDATE SET updated_at = now()
RETURNING id
"""

# In a statement of its own, and first: what follows sees what others have added.
HOLD_DOCUMENT = "SELECT 1 FROM documents WHERE id = %s FOR UPDATE"

# A node that comes again replaces itself.
DELETE_NODES = "DELETE FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)"

# With the new nodes' text, so that every citation resolves.
SET_TEXT = "UPDATE documents SET text = %s WHERE id = %s"

# What is there, and the ordinal that the next node gets.
TEXT = (
    "SELECT text, (SELECT coalesce(max(ordinal) + 1, 0) FROM chunks WHERE document_id = d.id)"
    " FROM documents d WHERE id = %s"
)

# A number that is no document's is a name.
OWN_DOCUMENT = "SELECT id FROM documents WHERE tenant_id = %s AND id = %s"
