"""The probes of the red team: each tries one thing and says what came of it."""
