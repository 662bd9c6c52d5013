"""Names in code that an answer writes: which of them the documents have, and where."""
