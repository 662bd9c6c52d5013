"""Answers and conversations that a person shows to others: with whom, what they see, comments."""
