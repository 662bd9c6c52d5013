"""Backups: everything of Helix in one database, in one file, and back again."""
