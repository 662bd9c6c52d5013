"""The life of a run: planning, durable workflow, worker loop, progress."""
