"""What an answer is worth, each measure in a file of its own."""
