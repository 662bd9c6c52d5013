"""What Helix tells its operators: metrics, traces, and ids for its logs. No text of anybody's."""
