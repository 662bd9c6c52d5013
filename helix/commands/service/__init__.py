"""Services that commands ask: DATABASE_URL's database or a running server, in the same words."""
