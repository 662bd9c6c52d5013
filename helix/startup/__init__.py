"""Work to do before anything else of Helix is imported."""
