"""How often Helix is right."""
