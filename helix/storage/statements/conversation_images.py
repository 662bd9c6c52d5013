"""Images that questions of a conversation are about."""

from helix.storage.statements import compose

# All of an image but its bytes.
_COLUMNS = "id, name, media, octet_length(data) AS bytes"

# Without the image itself, which may be sent again.
HELD = """
SELECT coalesce(sum(octet_length(data)), 0) FROM conversation_images
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id <> %(image)s
"""

# The same bytes have the same id.
KEEP = """
INSERT INTO conversation_images (tenant_id, conversation_id, id, name, media, data)
VALUES (%(tenant)s, %(id)s, %(image)s, %(name)s, %(media)s, %(data)s) ON CONFLICT DO NOTHING
"""

# Those that a question names; what is missing is told by its id.
SOME = compose(
    "SELECT {described} FROM conversation_images WHERE tenant_id = %(tenant)s"
    " AND conversation_id = %(id)s AND id = ANY(%(images)s)",
    described=_COLUMNS,
)

# With its bytes.
READ = """
SELECT media, data FROM conversation_images
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = %(image)s
"""

# For an export.
ALL = """
SELECT id, name, media, data FROM conversation_images
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s ORDER BY id
"""
