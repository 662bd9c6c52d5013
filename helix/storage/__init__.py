"""All SQL of serving and writing: connections, searches, document and chunk rows, indexes."""
