"""What happens before anything else of Helix is imported."""
