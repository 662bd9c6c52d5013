"""Pages and tables of documents, and the file that they are drawn from."""

# A document without pages is told from one that is not there.
EXISTS = "SELECT id FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s"

# Without their words, which are most of their bytes.
PAGES = """
SELECT row_to_json(x) FROM (
    SELECT number, label, width, height, start_char AS start, end_char AS end
    FROM document_pages WHERE tenant_id = %(tenant)s AND document_id = %(id)s ORDER BY number) x
"""

# As the reader found them, in the order of the text.
TABLES = """
SELECT row_to_json(x) FROM (
    SELECT start_char AS start, end_char AS end, page, caption, units, row_paths AS rows,
           column_paths AS columns, cells
    FROM document_tables WHERE tenant_id = %(tenant)s AND document_id = %(id)s ORDER BY ordinal) x
"""

# Of the pages that the range touches alone.
WORDS_OF_RANGE = """
SELECT number, words FROM document_pages
WHERE tenant_id = %(tenant)s AND document_id = %(id)s
    AND first_word < %(end)s AND last_word > %(start)s ORDER BY number
"""

# What is looked for on a page that is shown.
WORDS_OF_PAGE = """
SELECT words FROM document_pages
WHERE tenant_id = %(tenant)s AND document_id = %(id)s AND number = %(number)s
"""

# A page that is not there is told from a document that is not there.
FILE_OF_PAGE = """
SELECT d.source_uri, d.media, d.file_hash, p.number FROM documents d
LEFT JOIN document_pages p
    ON p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.number = %(number)s
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s
"""

# In the row, or in the object of a bucket that it names.
FILE_BYTES = """
SELECT data, place, size FROM files
WHERE tenant_id = %(tenant)s AND content_hash = %(file_hash)s
"""
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
