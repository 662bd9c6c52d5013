"""The library and what is on its way in: SQL and types of documents, uploads and runs."""
