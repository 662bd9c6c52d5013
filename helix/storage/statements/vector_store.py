"""LlamaIndex's vector store over the view ``data_chunks``."""

# As a tenant's transaction of ours, in SQLAlchemy's words.
AS_TENANT = (
    "SELECT set_config('helix.tenant', :tenant, true), set_config('role', 'helix_app', true)"
)

# LlamaIndex's own SET would stay on the connection; a filtered search goes on until it has k rows.
SETTINGS = """
SELECT set_config('hnsw.ef_search', :ef_search, true),
       set_config('hnsw.iterative_scan', 'strict_order', true),
       set_config('hnsw.max_scan_tuples', '2147483647', true)
"""
