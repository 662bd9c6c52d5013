"""What is in Helix and what is on its way in: SQL and types of documents, uploads and runs."""
