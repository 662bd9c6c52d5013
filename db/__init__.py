"""The schema, its migration and the embedded Postgres."""
