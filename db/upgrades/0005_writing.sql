-- The vector index has vectors at half precision now (docs/decisions/0050): db/schema.sql makes
-- it anew, and a change of the embedder that is under way its own.
DROP INDEX IF EXISTS chunks_embedding_hnsw, chunks_embedding_next_hnsw;
