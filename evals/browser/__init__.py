"""Questions asked in a real browser of a real server, and what its reader shows of each answer."""
