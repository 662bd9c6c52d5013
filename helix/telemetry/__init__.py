"""Reports to operators: metrics, traces, and ids for logs. No text of anybody's."""
