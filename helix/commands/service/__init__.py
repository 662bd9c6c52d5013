"""What commands ask: the database of DATABASE_URL, or a running server, in the same words."""
