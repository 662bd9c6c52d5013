"""Values and decisions without I/O: records, scope, gate, context, citations, prompt."""
