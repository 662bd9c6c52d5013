"""Pages and tables of documents as they are written."""

from __future__ import annotations

# Of the earlier version.
DROP_PAGES = "DELETE FROM document_pages WHERE tenant_id = %s AND document_id = %s"

# The same of its tables.
DROP_TABLES = "DELETE FROM document_tables WHERE tenant_id = %s AND document_id = %s"

# Binary, as chunks are: a book has a thousand pages.
COPY_PAGES = """
COPY document_pages (tenant_id, document_id, number, label, width, height, start_char, end_char,
                     first_word, last_word, furniture, words)
FROM STDIN (FORMAT BINARY)
"""

# The same of its tables.
COPY_TABLES = """
COPY document_tables (tenant_id, document_id, ordinal, start_char, end_char, page, caption, units,
                      row_paths, column_paths, cells)
FROM STDIN (FORMAT BINARY)
"""
