"""Writing: from a file to searchable chunks."""
