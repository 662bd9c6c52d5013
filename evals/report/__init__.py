"""A run as JSON, as a table for a terminal, and as a page of its own."""
